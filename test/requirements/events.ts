import { requirements } from './requirement.ts'

/** The log, the change stream and the Event resource. */
export const events = requirements('events', {
  'service.md#The change stream': {
    'event.streamed': 'Change events can be streamed.',
    'stream.tenant': 'GET /~{tenant}/events answers the change events of the tenant.',
    'stream.db': 'GET {db_url}/events answers the change events of the key’s tenant.',
    'stream.since': 'since leaves only events after that timestamp.',
    'stream.type': 'type filters by entity type and defaults to all.',
    'stream.limit': 'limit bounds the events returned and defaults to 100.',
  },
  'service.md#The Event type': {
    'event.id': 'The $id of an Event has the form event_<token>.',
    'event.createOnly': 'Events support only create.',
    'event.name': 'name is a required string.',
    'event.type': 'type is a required string.',
    'event.data': 'data holds any JSON.',
    'event.source': 'source is Browser, Node, API or Snippet.',
    'event.session': 'sessionId, userId and anonymousId are optional strings.',
    'event.organization': 'organization is an optional relation to Organization.',
    'event.timestamp': 'timestamp is a required datetime, defaulted to the current time before create.',
    'event.page': 'url, path and referrer are optional strings.',
    'event.properties': 'properties holds any JSON.',
    'event.stateless': 'An Event has no status; it is append-only.',
    'event.list': 'GET /events with name or source lists Events on the analytics lens.',
    'event.get': 'GET /events/:id reads one Event.',
    'event.post': 'POST /events creates an Event.',
  },
  'service.md#Limits': {
    'limit.stream': 'The limit of the change stream defaults to 100.',
  },
  'service.md#Names of events': {
    'event.names': 'Events are named {Entity}.{verb in the past tense}.',
    'event.names.builtin': 'Every entity has created, updated and deleted.',
    'event.names.custom': 'Each verb of a type adds the name of its event, such as Contact.qualified.',
    'event.names.wildcard': 'The wildcard * in place of the entity means that verb of every type.',
    'event.names.apiKey': 'ApiKey emits Created, Updated, Deleted and Revoked for its four verbs.',
    'event.names.event': 'Event emits Created only.',
  },
  'service.md#Types and verbs': {
    'hook.perVerb': 'In-process hooks exist before and after each verb.',
    'hook.after.context': 'An AFTER hook receives the entity and a context that can create further entities.',
  },
  F1: {
    'log.one': 'There is one log per tenant.',
    'log.record': 'Its record holds id, type, timestamp, tenant, data and previous.',
    'log.record.more': 'Its record also holds seq, verb, entityType, entityId, version and actor.',
    'log.previous': 'previous holds the changed fields and is absent on create and delete.',
    'log.seq': 'seq has no gaps within a tenant.',
  },
  F2: {
    'stream.order': 'The change stream is oldest first, in the list envelope.',
    'stream.cursor': 'The cursor of the change stream is a seq: nothing is missed or repeated.',
    'stream.type.patterns': 'type takes Contact, Contact.created, *.created and Contact.*.',
    'event.collection.lens': 'On the analytics lens /events is the Event collection.',
    'event.collection.parameters':
      'With a parameter of the Event resource or of lists, /events is the Event collection.',
    'event.resource': 'GET /events/:id and POST /events are the Event resource on every host.',
    'event.collection.holds': 'The Event collection holds tracked events and the event of every verb.',
    'event.collection.verb': 'The event of a verb has its name, as in Contact.qualified, and the type verb.',
  },
  F3: {
    'live.sse': 'Accept: text/event-stream turns the change stream live.',
    'live.id': 'The id of a live event is its seq.',
    'live.resume': 'Last-Event-ID resumes without loss.',
    'live.alive': 'Comments keep a live stream open.',
  },
  F4: {
    'log.time': 'Timestamps never decrease within a tenant.',
    'log.syncedAt': 'No event is written at or before a syncedAt already given out.',
  },
  F5: {
    'event.case.wire': 'Names on the wire are written Contact.qualified.',
    'event.case.subscription': 'Subscriptions match without regard to case.',
  },
  M2: {
    'stream.cursor.always': 'The change stream gives a cursor also when hasMore is false.',
    'stream.limit.range': 'The limit of the change stream is 1 to 1000.',
    'stream.since.invalid': 'A bad since answers 400 invalid_since.',
    'stream.type.known': 'A type on /events that is a known type, or has a dot or *, means the stream.',
    'stream.type.other': 'Any other type on /events means the Event collection.',
    'event.tracked.one': 'A tracked event is itself the log record of its Event.created; its id is the Event’s $id.',
    'event.tracked.once': 'A tracked event is shown once in the collection.',
  },
})
