// Clients of the service in a machine that systemd has booted, while systemd restarts it. It runs in the network of that machine:
// nsenter --net --target PID node test/bare/load.ts PID
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { restartUnderLoad } from '../faults/restarts.ts'

const [pid] = process.argv.slice(2)
const inside = ['--target', pid!, '--mount', '--pid', '--uts', '--ipc', 'systemctl']
const systemctl = async (...words: string[]) => {
  await promisify(execFile)('nsenter', [...inside, ...words], { cwd: '/' })
}

const report = await restartUnderLoad(3, undefined, {
  url: 'http://127.0.0.1:8787',
  restart: () => systemctl('restart', 'tildebase'),
  stop: async () => {},
})
process.stdout.write(JSON.stringify(report))
process.exit()
