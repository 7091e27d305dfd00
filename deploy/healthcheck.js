// Whether the service of this container answers. The image has no shell and no curl.
try {
  const { ok } = await fetch(`http://127.0.0.1:${process.env.TILDE_PORT || 8787}/healthz`)
  process.exitCode = ok ? 0 : 1
} catch {
  process.exitCode = 1
}
