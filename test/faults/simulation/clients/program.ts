import { defineProgram } from '@tildebase/server'

/** What the operator adds: a hook before a verb, and one after another. */
export default defineProgram({
  hooks(on) {
    on.Organization.creating((organization) => {
      if (organization.name === 'refused') throw new Error('The operator refuses this name.')
      return organization.industry === 'construction' ? { website: 'https://example.org' } : undefined
    })
    on.Organization.created(async (organization, $) => {
      await $.Comment.create({ body: `noticed ${organization.$id}` })
    })
  },
})
