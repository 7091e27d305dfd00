import { tsPlugin } from '@sveltejs/acorn-typescript'
import { type Node, Parser } from 'acorn'
import { CodeError } from '../../host/script/code.ts'

/** A node of the syntax tree, whose fields are not known here. */
// biome-ignore lint/suspicious/noExplicitAny: the tree has as many forms as the language.
type Tree = Node & { readonly [field: string]: any }

const TypeScript = Parser.extend(tsPlugin())

/** Whole nodes that are types and nothing else. */
const TYPES = new Set([
  'TSTypeAnnotation',
  'TSTypeParameterDeclaration',
  'TSTypeParameterInstantiation',
  'TSInterfaceDeclaration',
  'TSTypeAliasDeclaration',
  'TSDeclareFunction',
  'TSDeclareMethod',
  'TSAbstractMethodDefinition',
  'TSAbstractPropertyDefinition',
  'TSIndexSignature',
  'TSExpressionWithTypeArguments',
])
/** Types around an expression that stays. */
const AROUND = new Set(['TSAsExpression', 'TSSatisfiesExpression', 'TSNonNullExpression', 'TSInstantiationExpression'])
/** What is not a type, and would have to be compiled. */
const COMPILED: { readonly [type: string]: string } = {
  TSEnumDeclaration: 'enum',
  TSModuleDeclaration: 'namespace declaration',
  TSParameterProperty: 'parameter property',
  TSImportEqualsDeclaration: 'import equals declaration',
  TSExportAssignment: 'export assignment',
  TSTypeAssertion: 'type assertion with angle brackets',
}
/** What ends with its line, where no semicolon ends it. */
const ENDED = new Set(['ExpressionStatement', 'ReturnStatement', 'ThrowStatement', 'PropertyDefinition'])
const MEMBER_WORDS = /\b(?:public|private|protected|readonly|override|declare|abstract)\b/g

/** Removes the types from TypeScript: each becomes spaces, so that everything else stays where it is. */
export function strip(text: string, sourceType: 'script' | 'module' = 'script'): string {
  const letters = [...Array(text.length).keys()].map((at) => text[at]!)
  const eraser = new Eraser(text, letters)
  eraser.visit(
    TypeScript.parse(text, { ecmaVersion: 'latest', sourceType, locations: true, preserveParens: true }) as Tree,
  )
  return letters.join('')
}

class Eraser {
  readonly #text: string
  readonly #letters: string[]

  constructor(text: string, letters: string[]) {
    this.#text = text
    this.#letters = letters
  }

  visit(node: Tree): void {
    const { type } = node
    const compiled = COMPILED[type]
    if (compiled !== undefined && !node.declare) {
      throw new CodeError(`TypeScript ${compiled} is not supported in strip-only mode. Write it in plain JavaScript.`)
    }
    if (compiled !== undefined || TYPES.has(type) || isTypeOnly(node)) {
      this.#erase(node.start, node.end)
      return
    }
    if (AROUND.has(type)) this.#erase(node.expression.end, node.end)
    if (type === 'Identifier' && node.optional) this.#mark('?', node.start + node.name.length)
    if (type === 'VariableDeclarator' && node.definite) this.#mark('!', node.id.start + node.id.name.length)
    if (/^(?:PropertyDefinition|MethodDefinition|AccessorProperty)$/.test(type)) this.#member(node)
    if (type.startsWith('Class')) this.#class(node)
    if (type === 'ArrowFunctionExpression' && node.returnType) this.#arrow(node.returnType)
    if (Array.isArray(node.params)) this.#self(node.params[0])
    if (type === 'ImportDeclaration' || type === 'ExportNamedDeclaration') this.#specifiers(node.specifiers)
    this.#children(node)
    if (ENDED.has(type)) this.#end(node.end)
  }

  /** What ended with a type must not continue in the next line. */
  #end(end: number): void {
    const last = this.#text[end - 1]!
    if (this.#letters[end - 1] === ' ' && last !== ' ') this.#letters[end - 1] = ';'
  }

  #children(node: Tree): void {
    for (const [field, value] of Object.entries(node)) {
      if (field === 'loc') continue
      for (const child of Array.isArray(value) ? value : [value]) {
        if (typeof child?.type !== 'string' || typeof child.start !== 'number') continue
        this.visit(child)
        // In the head of a loop it continues.
        if (child.type === 'VariableDeclaration' && !child.declare && Array.isArray(value)) this.#end(child.end)
      }
    }
  }

  #member(node: Tree): void {
    const { key, optional, definite, start } = node
    const end = node.computed ? this.#text.lastIndexOf('[', key.start) : key.start
    for (const word of this.#text.slice(start, end).matchAll(MEMBER_WORDS))
      this.#erase(start + word.index, start + word.index + word[0].length)
    const after = node.computed ? this.#text.indexOf(']', key.end) + 1 : key.end
    if (optional) this.#mark('?', after)
    if (definite) this.#mark('!', after)
  }

  #class(node: Tree): void {
    if (node.abstract) this.#erase(node.start, this.#text.indexOf('abstract', node.start) + 'abstract'.length)
    const [first] = node.implements ?? []
    if (!first) return
    const from = (node.superTypeParameters ?? node.superClass ?? node.typeParameters ?? node.id)?.end ?? node.start
    this.#erase(this.#text.lastIndexOf('implements', first.start), node.body.start)
    // The word may not be before what it follows.
    if (this.#text.lastIndexOf('implements', first.start) < from) throw new SyntaxError('Unexpected implements')
  }

  /** Nothing may break the line between the parameters of an arrow function and its arrow. */
  #arrow({ start, end }: Tree): void {
    for (let at = start; at < end; at++) if (this.#letters[at] === '\n') this.#letters[at] = ' '
  }

  /** A first parameter `this` is a type. */
  #self(first: Tree | null | undefined): void {
    if (first?.type !== 'Identifier' || first.name !== 'this') return
    const comma = /^\s*,/.exec(this.#text.slice(first.end))
    this.#erase(first.start, first.end + (comma?.[0].length ?? 0))
  }

  #specifiers(specifiers: readonly Tree[] = []): void {
    for (const { importKind, exportKind, start, end } of specifiers) {
      if (importKind !== 'type' && exportKind !== 'type') continue
      const comma = /^\s*,/.exec(this.#text.slice(end))
      this.#erase(start, end + (comma?.[0].length ?? 0))
    }
  }

  /** Erases the next mark, which is after a name. */
  #mark(mark: string, from: number): void {
    const at = this.#text.indexOf(mark, from)
    this.#erase(at, at + 1)
  }

  #erase(start: number, end: number): void {
    for (let at = start; at < end; at++) if (!/[\r\n\u2028\u2029]/.test(this.#letters[at]!)) this.#letters[at] = ' '
  }
}

/** Statements and members that say something of a type only. */
function isTypeOnly(node: Tree): boolean {
  if (node.declaration?.type === 'TSDeclareFunction') return true
  if (node.declare === true || node.importKind === 'type' || node.exportKind === 'type')
    return !node.type.endsWith('Specifier')
  return node.abstract === true && !node.type.startsWith('Class')
    ? true
    : node.type === 'MethodDefinition' && !node.value?.body
}
