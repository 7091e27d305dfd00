import { render } from 'preact'
import { App } from './app.tsx'
import { openSignedIn } from './service/session.ts'

// Until it is known whether a person is signed in, the frame of the document is shown.
await openSignedIn()
render(<App />, document.getElementById('console')!)
