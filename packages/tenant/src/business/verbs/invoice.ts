import { type Json, type JsonObject, sameJson } from '@tildebase/nouns'
import type { Derive } from '../../write/write.ts'

/** What follows from the lines of an invoice, in the order in which one needs the other. */
const TOTALS = ['subtotal', 'tax', 'total', 'amountDue'] as const

/**
 * The totals of an Invoice from its `lineItems`, unless they are given. One that was given before stays until it is
 * cleared with null: it is not what followed from the others then.
 */
export const invoiceTotals: Derive = ({ state, before, given }) => {
  if (!Array.isArray(state.lineItems)) return state
  const free = TOTALS.filter((field) => (Object.hasOwn(given, field) ? given[field] === null : followed(before, field)))
  return free.length === 0 ? state : { ...state, ...totalsOf(state, new Set(free)) }
}

/** Whether a total was what the lines and the other totals said, or was not there. */
function followed(before: JsonObject | null, field: string): boolean {
  const value = before?.[field] ?? null
  if (before === null || value === null) return true
  return Array.isArray(before.lineItems) && sameJson(value, totalsOf(before, new Set([field]))[field] ?? null)
}

/** The totals that are free to follow, given the others. */
function totalsOf(state: JsonObject, free: ReadonlySet<string>): JsonObject {
  const lines = (state.lineItems as readonly Json[]).map(lineOf)
  const known = (field: string, derived: () => number | null) => (free.has(field) ? derived() : numberOf(state[field]))
  const subtotal = known('subtotal', () => sum(lines.map(({ amount }) => amount)))
  const isTaxed = lines.some(({ rate }) => rate !== null)
  const taxes = () => sum(lines.map(({ amount, rate }) => (amount * (rate ?? 0)) / 100))
  const tax = known('tax', () => (isTaxed ? taxes() : numberOf(state.tax) && 0))
  const total = known('total', () => rounded((subtotal ?? 0) - (numberOf(state.discount) ?? 0) + (tax ?? 0)))
  const amountDue = known('amountDue', () => rounded((total ?? 0) - (numberOf(state.amountPaid) ?? 0)))
  const all: { readonly [field: string]: number | null } = { subtotal, tax, total, amountDue }
  return Object.fromEntries(
    Object.entries(all).filter((entry) => free.has(entry[0]) && entry[1] !== null),
  ) as JsonObject
}

/** One line: `quantity` (1 unless given) times `unitPrice`, and its `taxRate` in percent. */
function lineOf(line: Json): { readonly amount: number; readonly rate: number | null } {
  const { quantity, unitPrice, taxRate } = (line ?? {}) as JsonObject
  return { amount: (numberOf(quantity) ?? 1) * (numberOf(unitPrice) ?? 0), rate: numberOf(taxRate) }
}

function sum(numbers: readonly number[]): number {
  return rounded(numbers.reduce((total, number) => total + number, 0))
}

/** Fifteen digits are what a decimal keeps in a number: 0.1 + 0.2 is 0.3. */
function rounded(value: number): number {
  return Number(value.toPrecision(15))
}

function numberOf(value: Json | undefined): number | null {
  return typeof value === 'number' ? value : null
}
