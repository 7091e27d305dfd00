// The manifests of the repository point to sources. What is published is laid out in dist/ by "npm run build".
console.error('Pack the built package instead: "npm run build", then "npm pack ./dist/NAME".')
process.exitCode = 1
