// The names of the company's world. All are invented.

export const PLANS = [
  { name: 'Spring', amount: 49 },
  { name: 'River', amount: 129 },
  { name: 'Delta', amount: 349 },
] as const

export const COMPANIES = (
  'Aldermoor Birkfeld Caldera Dunmere Elmstead Fjordby Glenrath Hollowell Isartal Jorvik Kestrel Lindow Marlowe Norvale ' +
  'Ostrava Pinehurst Quarley Rosenau Silverbeck Tamworth Ulverton Vestbro Westmark Yarrow Zellberg Ashgrove Brackwater Corrie'
).split(' ')

export const KINDS = ['Waterworks', 'Utilities', 'Pumps', 'Municipal', 'Filtration', 'Works', 'Supply'] as const

export const INDUSTRIES = ['utilities', 'manufacturing', 'construction', 'agriculture', 'healthcare'] as const

export const CITIES = [
  'Bremen',
  'Gdańsk',
  'Ghent',
  'Porto',
  'Aarhus',
  'Leeds',
  'Turin',
  'Lyon',
  'Graz',
  'Bergen',
] as const

export const FIRST_NAMES = (
  'Amara Bastian Chiara Dario Elif Farid Greta Henrik Ines Jakub Katya Leo Maren Nils Olga Pablo Rosa Sven Thea Viktor ' +
  'Wanda Yusuf Zofia Arne Bianca Cem Dana Erik Fiona Goran'
).split(' ')

export const LAST_NAMES = (
  'Adeyemi Bergman Costa Dvorak Eriksen Fischer Gallo Haddad Ivanov Jansen Kowalski Lopez Moreau Novak Ortega Petrov ' +
  'Quist Rossi Schmidt Takacs Ulrich Vargas Weber Yilmaz Zeman Brandt Conti Demir Falk Grau'
).split(' ')

export const TITLES = [
  'Head of Operations',
  'Plant Manager',
  'IT Lead',
  'Buyer',
  'Chief Engineer',
  'Controller',
] as const

export const LOST_REASONS = [
  'Price',
  'Another product',
  'No budget this year',
  'Built it themselves',
  'No answer',
] as const

export const CHANNELS = ['Email', 'Email', 'Chat', 'Phone', 'Web'] as const

export const PROBLEMS = [
  'The report of last week is empty',
  'A pump shows the wrong pressure',
  'How do I add a second plant?',
  'An alarm comes twice',
  'The export misses two sensors',
  'We need an invoice with another address',
  'Sign-in fails on the new tablet',
  'The map does not load',
  'Readings arrive an hour late',
  'Please delete a colleague who left',
  'The limit of a sensor cannot be changed',
  'Can two plants share a dashboard?',
] as const
