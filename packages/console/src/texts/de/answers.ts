import type { Texts } from '../languages.ts'

/**
 * Sentences of the service in German, by their English templates: each `{}` is a name or a value. The first template that fits
 * counts. For a sentence without one, the code of the error says it.
 */
const answers: Texts = {
  'is required': 'ist erforderlich',
  'is required and cannot be cleared': 'ist erforderlich und darf nicht leer sein',
  'must be a list': 'muss eine Liste sein',
  'must be a string': 'muss ein Text sein',
  'must be a string that is not empty': 'darf nicht leer sein',
  'must be a number': 'muss eine Zahl sein',
  'must be a number of at least {}': 'muss eine Zahl ab {} sein',
  'must be a number of at most {}': 'muss eine Zahl bis {} sein',
  'must be a number from {} to {}': 'muss eine Zahl von {} bis {} sein',
  'must be true or false': 'muss Ja oder Nein sein',
  'must be a date such as {}': 'muss ein Datum wie {} sein',
  'must be an ISO 8601 datetime such as {}': 'muss ein Zeitpunkt wie {} sein',
  'must be the id of another {}': 'muss ein anderer Eintrag sein ({})',
  'must be the id of {}, such as {}': 'muss ein Eintrag dieser Art sein: {}',
  'is this {} itself': 'ist derselbe Eintrag',
  'is computed and cannot be written': 'wird berechnet und kann nicht geändert werden',
  'is the inverse of {}; set that field instead': 'ist die Gegenseite von {}; ändern Sie dieses Feld',
  'is not declared, and {} is strict; {}': 'ist kein Feld von {}',
  'is not declared, and {} is strict': 'ist kein Feld von {}',
  'is not a JSON value': 'ist kein JSON-Wert',
  'is built in and cannot be deleted': 'ist eingebaut und kann nicht gelöscht werden',
  'has text after a closing quote': 'hat Text nach einem schließenden Anführungszeichen',
  'has a quoted cell that is not closed': 'hat eine Zelle mit einem offenen Anführungszeichen',
  'The type {} is not valid. {}: {}': 'Der Typ {} ist nicht gültig. {}: {}',
  'The {} is not valid. {}': '{}: Die Eingaben sind nicht gültig.',
  'Another {} has this {} already: {}. It must be unique.': '{1} muss eindeutig sein. Es gibt schon: {0} {2}.',
  'Another {} has this {} already. It must be unique.': '{1} muss eindeutig sein. Der Wert ist vergeben ({0}).',
  'Another {} has these values of {} already: {}. They must be unique together.':
    '{1} müssen zusammen eindeutig sein. Es gibt schon: {0} {2}.',
  'Another {} has these values of {} already. They must be unique together.':
    '{1} müssen zusammen eindeutig sein. Die Werte sind vergeben ({0}).',
  'The {} {} already exists.': 'Diesen Eintrag gibt es schon: {} {}.',
  'There is no {} {}.': 'Diesen Eintrag gibt es nicht: {} {}.',
  'There are {} entities of type {}. Delete them first.':
    'Es gibt {} Einträge dieser Art: {}. Löschen Sie diese zuerst.',
  'This {} is not deleted; there is nothing to restore.': 'Dieser Eintrag ist nicht gelöscht.',
  'This key may not {} {}. It needs {} or more.': 'Dafür fehlt Ihnen ein Recht ({1}): {2}.',
  'This key does not have this right. It needs {} or more.': 'Dafür fehlt Ihnen ein Recht: {}.',
  'This key cannot write a {} with these values, because its row filter does not match them.':
    'Ihre Rechte erlauben diese Werte nicht ({}).',
  'This key may only propose changes to {}. Add ?propose=<title> to the request; another key then approves the changeset.':
    'Sie können diese Einträge nicht ändern, nur Änderungen vorschlagen: {}.',
  '{} is allowed from {}; this {} has {} {}.': '{} ist nur möglich, wenn {3} {1} ist, und nicht bei {4}.',
  '{} leads from {} to no other state, not to {}.': '{} führt von {} zu keinem anderen Status, auch nicht zu {}.',
  '{} leads from {} to {}, not to {}.': '{} führt von {} zu {}, nicht zu {}.',
  'The {} of {} is guarded. {}': 'Das Feld {} ändert sich nur durch Aktionen.',
  'A {} may have at most 1 MiB of JSON; this one has {} bytes.':
    'Ein Eintrag darf höchstens 1 MiB groß sein; dieser hat {1} Byte.',
  'A file may have at most {} bytes (TILDE_FILE_LIMIT).': 'Eine Datei darf höchstens {} Byte groß sein.',
  'The files of this tenant may have at most {} bytes together (TILDE_FILES_TOTAL).':
    'Alle Dateien zusammen dürfen höchstens {} Byte groß sein.',
  'This passkey is already in use. Use another one.': 'Dieser Passkey wird schon verwendet. Nehmen Sie einen anderen.',
  busy: 'Der Dienst hat gerade zu viel zu tun. Versuchen Sie es gleich noch einmal.',
  internal: 'Im Dienst ist ein Fehler aufgetreten. Versuchen Sie es noch einmal.',
  over_budget: 'Das ist zu viel auf einmal. Grenzen Sie es ein.',
  over_quota: 'Der Platz ist aufgebraucht. Löschen Sie etwas, oder fragen Sie den Betreiber.',
  rate_limited: 'Das waren zu viele Anfragen. Warten Sie etwas, und versuchen Sie es dann noch einmal.',
  unavailable: 'Der Dienst ist gerade nicht bereit. Versuchen Sie es gleich noch einmal.',
}

export default answers
