export { ABOUT_TYPES } from './catalogue/about.ts'
export { type Catalogue, catalogue } from './catalogue/index.ts'
export type {
  Code,
  CodeReads,
  CodeWrites,
  HooksOf,
  KnownNouns,
  RegisteredNouns,
  TenantNouns,
  WithNouns,
} from './declaration/code-types.ts'
export {
  DECLARED,
  type Declaration,
  type Declared,
  declarationOf,
  isDeclared,
  lookOf,
  type RoleDeclaration,
  VIEW_NOTATION,
  type ViewDeclaration,
  viewOf,
  type WebhookDeclaration,
} from './declaration/declaration.ts'
export { hooks, role, view, type WorkflowDeclaration, webhook, workflow } from './declaration/declare.ts'
export { DOCUMENTATION } from './documentation.ts'
export { type EventOf, type EventPattern, type EventRecord, isPattern, matchesEvent } from './event.ts'
export { type ComputedField, computedFields, isComputed } from './expression/computed.ts'
export { evaluate, pathsOf } from './expression/expression.ts'
export { type AsOf, parseAsOf } from './filter/as-of.ts'
export { compareText, isObject, orderedJson, sameJson } from './filter/compare.ts'
export { allOf, EVERYTHING, type Filter, type Hop, type Leaf, type Path, touches } from './filter/filter.ts'
export {
  type Follow,
  isIndex,
  type Look,
  match,
  matcher,
  matchWords,
  meetsMissing,
  type Regex,
  textsOf,
} from './filter/match.ts'
export { OPERATORS } from './filter/operand.ts'
export { comparator, compareSortValues, type Placed, parseSort, type SortKey, sortValue } from './filter/order.ts'
export { type ParseOptions, parseFilter, parseFilterText } from './filter/parse-filter.ts'
export {
  declaredField,
  hopOf,
  META_FIELDS,
  type NounLookup,
  type PathFault,
  quoted,
  relationNames,
  relationOf,
  resolvePath,
  targetNouns,
} from './filter/path.ts'
export { patternSize } from './filter/pattern-size.ts'
export { relativeInstant, resolveInstant } from './filter/relative.ts'
export type {
  AfterVerb,
  BeforeStep,
  Draft,
  Entity,
  EventName,
  EventStep,
  Extended,
  FileField,
  IsLoose,
  Meta,
  Notation,
  NounMap,
  NounOf,
  Patch,
  RelationName,
  TargetOf,
  VerbArgs,
  VerbName,
  VerbNotation,
} from './infer/infer.ts'
export type { Condition, Include, SortField, ValueAt, Where } from './infer/infer-where.ts'
export { DOMAINS, INDUSTRIES, JOURNEYS, type Lens, resolveLens } from './lens.ts'
export { didYouMean, nearest } from './nearest.ts'
export { type NounOptions, noun } from './notation/declare.ts'
export { article, camelPrefix, listed, pastTense, pluralPath, presentParticiple } from './notation/english.ts'
export { extended } from './notation/extended.ts'
export { parseNoun } from './notation/notation.ts'
export { parsePlain } from './notation/parse-plain.ts'
export { renameField, renameInNotation } from './notation/rename.ts'
export type {
  BackField,
  Expression,
  Field,
  ForwardField,
  Json,
  JsonObject,
  Kind,
  Noun,
  Timer,
  ValueField,
  Verb,
} from './noun.ts'
export { ANY_TYPE, pointsTo, SOURCE, targetText } from './noun.ts'
export { checkRelations, type Nouns, nounsOf } from './nouns.ts'
export { type About, type Issue, invalid, MOST_ISSUES, Problem } from './problem.ts'
export { fromBase64, toBase64 } from './proof/base64.ts'
export { isConsistent, rootOfInclusion, sameBytes, type TreeHead } from './proof/check-proof.ts'
export {
  consistencyProof,
  inclusionProof,
  leafHash,
  type NodeAt,
  nodeHash,
  type Sha256,
  treeRoot,
} from './proof/merkle.ts'
export {
  type Checkpoint,
  checkpointText,
  type Note,
  type NoteSignature,
  noteText,
  parseCheckpoint,
  parseNote,
  parseSignature,
  signatureLine,
} from './proof/note.ts'
export type { ConsistencyProof, EventProof, SealedEntry, SignedCheckpoint, WitnessReport } from './proof/proofs.ts'
export {
  cosignatureBytes,
  cosignedText,
  keyIdOf,
  parseVerifierKey,
  type ValidSignature,
  type VerifierKey,
  type VerifySignature,
  validSignatures,
  verifierKeyText,
} from './proof/verifier-key.ts'
export { type Checked, type CheckWay, checkArguments, checkDraft, checkPatch, checkSet } from './value/check.ts'
export { type Converted, convert } from './value/convert.ts'
export {
  FILE_PARTS,
  type FileInput,
  type FileValue,
  fileName,
  HASH,
  isFileValue,
  mediaType,
} from './value/file.ts'
export { hasLoneSurrogate, isDeeper, isPlainObject, MAX_DEPTH } from './value/json.ts'
export { MOST_NAMES, MOST_VALUES, tooMuch } from './value/json-size.ts'
export { isClockTime, isoOf, parseInstant } from './value/time.ts'
export { indexedText, indexTokens, searchTokens, wordsOf } from './words.ts'
