import { noun } from '@tildebase/nouns'
import { defineProgram } from '@tildebase/server'

/** An account. Its verbs change the balance by what the hooks work out, in the transaction of the verb. */
const Account = noun('Account', {
  $domain: 'bench',
  number: 'number!##',
  balance: 'number!',
  debit: { event: 'debited', args: ['amount'], keeps: 'event', set: { balance: '$args.balance' } },
  credit: { event: 'credited', args: ['amount'], keeps: 'event', set: { balance: '$args.balance' } },
})

export default defineProgram({
  nouns: { Account },
  hooks(on) {
    on.Account.debiting(({ balance }, _, args) => {
      const amount = amountIn(args)
      if (balance < amount) throw new Error(`The account has ${balance}, which is less than ${amount}.`)
      return { balance: balance - amount }
    })
    on.Account.crediting(({ balance }, _, args) => ({ balance: balance + amountIn(args) }))
  },
})

function amountIn({ amount }: { readonly [name: string]: unknown }): number {
  if (typeof amount === 'number' && amount > 0) return amount
  throw new Error('amount must be a number above 0.')
}
