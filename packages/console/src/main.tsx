import { render } from 'preact'
import { App } from './app.tsx'
import { openSignedIn, session } from './service/session.ts'

const root = document.getElementById('console')!
// Until it is known whether a person is signed in, the frame of the document is shown.
await openSignedIn()
// Loading the program was one task, drawing is another: keys, taps and the frame of the page have their turn in between.
await new Promise((done) => setTimeout(done))
// The program draws with the elements of the frame. The key box has none of them.
if (session.value === null) root.replaceChildren()
render(<App />, root)
