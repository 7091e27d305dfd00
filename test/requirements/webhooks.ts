import { requirements } from './requirement.ts'

/** Webhooks: registration, delivery, retries. */
export const webhooks = requirements('webhooks', {
  'service.md#A delivery': {
    'webhook.pushed': 'A webhook sends events to an endpoint, with a signature.',
    'webhook.authenticated': 'Deliveries are authenticated by their signature.',
    'delivery.post': 'A delivery is a POST to url, and its body is a JSON object.',
    'delivery.id': 'id is the unique id of the event and the same on every try.',
    'delivery.type': 'type is the event name.',
    'delivery.timestamp': 'timestamp is when the event occurred.',
    'delivery.tenant': 'tenant is the slug of the tenant.',
    'delivery.data': 'data is the entity after the event, with $id and $type.',
    'delivery.previous': 'previous holds the changed fields with their previous values, for updates and verbs only.',
    'delivery.signature': 'X-Service-Signature is sha256= and the lowercase hex HMAC-SHA256 of the raw body.',
  },
  'service.md#Registering a webhook': {
    'webhook.id': 'The $id of a Webhook has the form webhook_<token>.',
    'webhook.url': 'url is a required https endpoint.',
    'webhook.events': 'events is a required list of subscribed event types.',
    'webhook.secret': 'secret is optional and generated when left out.',
    'webhook.status': 'status is active or failing and is set by the service.',
    'webhook.createdAt': 'createdAt is an ISO 8601 datetime in the response.',
    'webhook.register': 'POST /~{tenant}/webhooks takes url, events and an optional secret.',
    'webhook.register.answer': 'Registration answers $id, url, events, status and createdAt.',
    'webhook.register.active': 'A new webhook is active.',
  },
  'service.md#A webhook that fails': {
    'webhook.failing': 'A webhook becomes failing when 5 retries of a delivery have all failed.',
    'webhook.failing.subscribed': 'A failing webhook still receives new events.',
    'webhook.failing.drains': 'The backlog drains by itself once the endpoint is fixed.',
  },
  'service.md#Retries': {
    'webhook.retry.failure': 'A non-2xx response fails a delivery.',
    'webhook.retry.timeout': 'No response within 10 seconds fails a delivery.',
    'webhook.retry.delays': 'Retries come 30 seconds, 2 minutes, 15 minutes, 1 hour and 6 hours after each failure.',
    'webhook.retry.exhausted': 'When the fifth retry has failed, the webhook is failing.',
    'webhook.retry.new': 'A failing webhook stays active for new events.',
  },
  'service.md#Errors': {
    'webhook.error': 'A failed delivery follows the retry policy.',
  },
  'service.md#Limits': {
    'limit.webhook.timeout': 'A delivery times out after 10 seconds.',
    'limit.webhook.retries': 'A delivery is retried 5 times.',
  },
  H1: {
    'webhook.https': 'A url that is not https is refused.',
    'webhook.address': 'No delivery goes to a loopback, private, link-local or metadata address.',
    'webhook.address.connection': 'The address is checked at connection time, after DNS, on every attempt.',
    'webhook.redirect': 'No redirects are followed.',
    'webhook.insecure': 'TILDE_WEBHOOKS_INSECURE=1 lifts the rules on https and addresses.',
    'webhook.patterns': 'events accepts *, *.created, Contact.* and Contact.created.',
  },
  H2: {
    'webhook.secret.form': 'A generated secret is whsec_ and the base64 of 24 or more bytes.',
    'webhook.secret.once': 'The secret is returned on creation only.',
    'delivery.standard': 'Every delivery carries webhook-id, webhook-timestamp and webhook-signature.',
  },
  H3: {
    'outbox.transaction': 'The outbox is written in the transaction of the verb.',
    'outbox.never': 'An acknowledged verb is never undelivered, also after a crash.',
    'outbox.atLeastOnce': 'A delivery is made at least once.',
    'outbox.order': 'Deliveries go in order per webhook while it is healthy.',
    'outbox.retry': 'A retry does not hold up later events.',
  },
  H4: {
    'webhook.recovers': 'failing returns to active on the first success.',
    'webhook.recovers.backlog': 'On the first success the exhausted backlog is queued again at once.',
  },
  H5: {
    'webhook.deliveries': 'GET /webhooks/:id/deliveries lists attempts with status, latency and error.',
    'webhook.redeliver': 'POST /webhooks/:id/redeliver sends one delivery again.',
    'webhook.redeliver.all': 'POST /webhooks/:id/redeliver without a deliveryId sends all failed ones again.',
    'webhook.rotate': 'POST /webhooks/:id/rotate gives a new secret.',
    'webhook.rotate.overlap': 'After a rotation the old secret signs alongside for 24 hours.',
  },
  L2: {
    'webhook.env.retries': 'TILDE_WEBHOOK_RETRIES sets the waits before the retries and defaults to 30s,2m,15m,1h,6h.',
    'webhook.env.timeout': 'TILDE_WEBHOOK_TIMEOUT sets the timeout of a delivery and defaults to 10s.',
  },
  M7: {
    'signature.text': 'X-Service-Signature is keyed with the secret as text, whsec_ included.',
    'signature.rotated': 'X-Service-Signature is keyed with the new secret after a rotation.',
    'signature.bytes':
      'webhook-signature is keyed with the bytes behind whsec_, any other secret with its UTF-8 bytes.',
    'signature.overlap': 'webhook-signature holds old and new side by side during the overlap.',
    'webhook.insecure.schemes': 'Insecure mode allows http and https and nothing else.',
  },
})
