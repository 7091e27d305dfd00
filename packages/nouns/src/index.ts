export { type AsOf, parseAsOf } from './as-of.ts'
export { ABOUT_TYPES } from './catalogue/about.ts'
export { type Catalogue, catalogue } from './catalogue/index.ts'
export { type Checked, type CheckWay, checkArguments, checkDraft, checkPatch, checkSet } from './check.ts'
export { compareText, isObject, sameJson } from './compare.ts'
export { type ComputedField, computedFields, isComputed } from './computed.ts'
export { type Converted, convert } from './convert.ts'
export { article, camelPrefix, listed, pastTense, pluralPath, presentParticiple } from './english.ts'
export { type EventOf, type EventRecord, isPattern, matchesEvent } from './event.ts'
export { evaluate, pathsOf } from './expression.ts'
export { allOf, EVERYTHING, type Filter, type Hop, type Leaf, type Path, touches } from './filter.ts'
export type {
  BeforeStep,
  Draft,
  Entity,
  EventName,
  EventStep,
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
} from './infer.ts'
export type { Condition, Include, SortField, Where } from './infer-where.ts'
export { hasLoneSurrogate, isPlainObject, MAX_DEPTH } from './json.ts'
export { DOMAINS, INDUSTRIES, JOURNEYS, type Lens, resolveLens } from './lens.ts'
export { type Follow, isIndex, match, matcher, matchWords, meetsMissing, type Regex, textsOf } from './match.ts'
export { didYouMean, nearest } from './nearest.ts'
export { type NounOptions, noun, parseNoun } from './notation.ts'
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
export { ANY_TYPE, pointsTo, targetText } from './noun.ts'
export { checkRelations, type Nouns, nounsOf } from './nouns.ts'
export { OPERATORS } from './operand.ts'
export { comparator, compareSortValues, type Placed, parseSort, type SortKey, sortValue } from './order.ts'
export { type ParseOptions, parseFilter, parseFilterText } from './parse-filter.ts'
export { parsePlain } from './parse-plain.ts'
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
} from './path.ts'
export { type About, type Issue, invalid, Problem } from './problem.ts'
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
export { relativeInstant, resolveInstant } from './relative.ts'
export { renameField, renameInNotation } from './rename.ts'
export { isoOf, parseInstant } from './time.ts'
export { wordsOf } from './words.ts'
