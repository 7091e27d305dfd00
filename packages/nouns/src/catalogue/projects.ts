import { noun } from '../notation/notation.ts'

/** A comment on an issue. */
export const Comment = noun('Comment', {
  $domain: 'projects',
  body: 'string!',
  author: '-> User | Contact',
  about: '-> *',
  mentions: '-> User[]',
  issue: '-> Issue.comments',
  resolve: { event: 'resolved' },
})

/** A piece of work, from open to closed. */
export const Issue = noun('Issue', {
  $domain: 'projects',
  title: 'string!',
  description: 'string',
  status: 'Open | Assigned | InProgress | Review | Done | Closed | Reopened = Open',
  priority: 'Low | Medium | High | Urgent',
  type: 'Bug | Feature | Task | Epic',
  labels: 'string',
  milestone: 'string',
  dueDate: 'date',
  project: '-> Project.issues',
  assignee: '-> User | Contact',
  reporter: '-> User | Contact',
  comments: '<- Comment.issue[]',
  assign: {
    event: 'assigned',
    from: ['Open', 'Reopened', 'Assigned', 'InProgress', 'Review'],
    set: { status: 'Assigned', assignee: '$args.assignee' },
    args: 'assignee',
  },
  close: {
    event: 'closed',
    from: ['Done', 'Open', 'Assigned', 'InProgress', 'Reopened', 'Review'],
    set: { status: 'Closed' },
  },
  reopen: { event: 'reopened', from: 'Closed', set: { status: 'Reopened' } },
  start: { event: 'started', from: ['Open', 'Assigned', 'Reopened', 'Review'], set: { status: 'InProgress' } },
  finish: {
    event: 'finished',
    from: ['Open', 'Assigned', 'InProgress', 'Reopened', 'Review'],
    set: { status: 'Done' },
  },
  review: { event: 'reviewed', from: ['Open', 'Assigned', 'InProgress', 'Reopened'], set: { status: 'Review' } },
})

/** A group of issues with a common goal. */
export const Project = noun('Project', {
  $domain: 'projects',
  name: 'string!',
  slug: 'string##',
  description: 'string',
  status: 'Active | Archived | Completed = Active',
  visibility: 'Public | Private',
  startDate: 'date',
  targetDate: 'date',
  tags: 'string',
  organization: '-> Organization',
  owner: '-> User | Contact',
  issues: '<- Issue.project[]',
  archive: { event: 'archived', from: ['Active', 'Completed'], set: { status: 'Archived' } },
  complete: { event: 'completed', from: 'Active', set: { status: 'Completed' } },
  activate: { event: 'activated', from: ['Archived', 'Completed'], set: { status: 'Active' } },
})
