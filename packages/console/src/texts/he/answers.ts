import type { Texts } from '../languages.ts'

/**
 * Sentences of the service in Hebrew, by their English templates: each `{}` is a name or a value. The first template that fits
 * counts. For a sentence without one, the code of the error says it.
 */
const answers: Texts = {
  'is required': 'שדה חובה',
  'is required and cannot be cleared': 'שדה חובה, אי אפשר לרוקן אותו',
  'must be a list': 'חייב להיות רשימה',
  'must be a string': 'חייב להיות טקסט',
  'must be a string that is not empty': 'אסור שיהיה ריק',
  'must be a number': 'חייב להיות מספר',
  'must be a number of at least {}': 'חייב להיות מספר החל מ־{}',
  'must be a number of at most {}': 'חייב להיות מספר עד {}',
  'must be a number from {} to {}': 'חייב להיות מספר מ־{} עד {}',
  'must be true or false': 'חייב להיות כן או לא',
  'must be a date such as {}': 'חייב להיות תאריך כמו {}',
  'must be an ISO 8601 datetime such as {}': 'חייב להיות מועד כמו {}',
  'must be the id of another {}': 'חייב להיות רשומה אחרת ({})',
  'must be the id of {}, such as {}': 'חייב להיות רשומה מסוג זה: {}',
  'is this {} itself': 'זו אותה רשומה',
  'is computed and cannot be written': 'השדה מחושב ואי אפשר לשנות אותו',
  'is the inverse of {}; set that field instead': 'זה הצד השני של {}; שנו את השדה ההוא',
  'is not declared, and {} is strict; {}': 'אינו שדה של {}',
  'is not declared, and {} is strict': 'אינו שדה של {}',
  'is not a JSON value': 'אינו ערך תקין',
  'is built in and cannot be deleted': 'מובנה ואי אפשר למחוק אותו',
  'has text after a closing quote': 'יש טקסט אחרי גרש סוגר',
  'has a quoted cell that is not closed': 'יש תא שגרשיו לא נסגרו',
  'The type {} is not valid. {}: {}': 'הסוג {} אינו תקין. {}: {}',
  'The {} is not valid. {}': '{}: הערכים אינם תקינים.',
  'Another {} has this {} already: {}. It must be unique.': '{1} חייב להיות ייחודי. כבר קיים: {0} {2}.',
  'Another {} has this {} already. It must be unique.': '{1} חייב להיות ייחודי. הערך תפוס ({0}).',
  'Another {} has these values of {} already: {}. They must be unique together.':
    '{1} חייבים להיות ייחודיים יחד. כבר קיים: {0} {2}.',
  'Another {} has these values of {} already. They must be unique together.':
    '{1} חייבים להיות ייחודיים יחד. הערכים תפוסים ({0}).',
  'The {} {} already exists.': 'הרשומה כבר קיימת: {} {}.',
  'There is no {} {}.': 'אין רשומה כזו: {} {}.',
  'There are {} entities of type {}. Delete them first.': 'יש {} רשומות מסוג זה: {}. מחקו אותן קודם.',
  'This {} is not deleted; there is nothing to restore.': 'הרשומה אינה מחוקה.',
  'This key may not {} {}. It needs {} or more.': 'חסרה לכם הרשאה לכך ({1}): {2}.',
  'This key does not have this right. It needs {} or more.': 'חסרה לכם הרשאה לכך: {}.',
  'This key cannot write a {} with these values, because its row filter does not match them.':
    'ההרשאות שלכם אינן מאפשרות ערכים אלה ({}).',
  'This key may only propose changes to {}. Add ?propose=<title> to the request; another key then approves the changeset.':
    'אינכם יכולים לשנות רשומות אלה, רק להציע שינויים: {}.',
  '{} is allowed from {}; this {} has {} {}.': '{} אפשרי רק כאשר {3} הוא {1}, ולא {4}.',
  '{} leads from {} to no other state, not to {}.': '{} אינו מוביל מ־{} למצב אחר, גם לא אל {}.',
  '{} leads from {} to {}, not to {}.': '{} מוביל מ־{} אל {}, לא אל {}.',
  'The {} of {} is guarded. {}': 'השדה {} משתנה רק על ידי פעולות.',
  'A {} may have at most 1 MiB of JSON; this one has {} bytes.': 'רשומה יכולה להכיל עד 1 מגה־בייט; בזו יש {1} בתים.',
  'A file may have at most {} bytes (TILDE_FILE_LIMIT).': 'קובץ יכול להכיל עד {} בתים.',
  'The files of this tenant may have at most {} bytes together (TILDE_FILES_TOTAL).':
    'כל הקבצים יחד יכולים להכיל עד {} בתים.',
  'This passkey is already in use. Use another one.': 'מפתח הגישה כבר בשימוש. השתמשו באחר.',
  busy: 'השירות עמוס כרגע. נסו שוב עוד רגע.',
  internal: 'אירעה שגיאה בשירות. נסו שוב.',
  over_budget: 'זה יותר מדי בבת אחת. צמצמו את הבקשה.',
  over_quota: 'המקום נגמר. מחקו משהו, או פנו למפעיל.',
  rate_limited: 'נשלחו יותר מדי בקשות. חכו מעט ונסו שוב.',
  unavailable: 'השירות אינו מוכן כרגע. נסו שוב עוד רגע.',
}

export default answers
