/** A message of the corpus, and what it is about. */
export interface Shaped {
  readonly name: string
  readonly raw: Buffer
}

/** A short text in a charset, as bytes: encoders of these are not part of Node. */
const TEXTS: { readonly [charset: string]: string } = {
  'utf-8': Buffer.from('Grüße, Привет, こんにちは 👋').toString('hex'),
  'us-ascii': Buffer.from('Hello there').toString('hex'),
  'iso-8859-1': '4772fcdf65206175732043f472f964e962',
  'iso-8859-2': 'a3f364bc206920a3f364bc',
  'iso-8859-15': '313020a4',
  'windows-1252': '93717593742094208096',
  'windows-1251': 'cff0e8e2e5f2',
  'koi8-r': 'f0d2c9d7c5d4',
  shift_jis: '82b182f182c982bf82cd',
  'iso-2022-jp': '1b244224332473244b2441244f1b2842',
  'euc-jp': 'a4b3a4f3a4cba4c1a4cf',
  gb18030: 'c4e3bac3',
  big5: 'a741a66e',
  'euc-kr': 'bec8b3e7',
}

const ENCODINGS = ['8bit', 'quoted-printable', 'base64'] as const
type Encoding = (typeof ENCODINGS)[number]

const HTML =
  '<p>Hello <b>there</b></p><script>alert(1)</script><img src=x onerror=alert(1)><a href="javascript:alert(1)">x</a>'
const FILE = Buffer.from(Array.from({ length: 300 }, (_, i) => (i * 7) % 256))

/** More than 300 messages in the shapes that mail servers see: charsets, encodings, nesting, and what is broken. */
export function corpus(): Shaped[] {
  const all = [...charsets(), ...structures(), ...headers(), ...broken()]
  return all.map(([name, raw], i) => ({
    name,
    raw: typeof raw === 'string' ? Buffer.from(raw.replaceAll('%n', String(i)), 'utf8') : raw,
  }))
}

type Named = readonly [name: string, raw: string | Buffer]

function charsets(): Named[] {
  return Object.entries(TEXTS).flatMap(([charset, hex]) =>
    ENCODINGS.flatMap((encoding): Named[] => {
      const bytes = Buffer.from(hex, 'hex')
      const part = joined([
        `Content-Type: text/plain; charset=${charset}\r\nContent-Transfer-Encoding: ${encoding}\r\n\r\n`,
        encoded(bytes, encoding),
      ])
      const word = (kind: 'B' | 'Q') =>
        `=?${charset}?${kind}?${kind === 'B' ? bytes.toString('base64') : quoted(bytes)}?=`
      const id = `${charset}.${encoding}`
      const top = (n: string) =>
        `From: ada@example.org\r\nTo: desk@acme.example\r\nMessage-ID: <${id}.${n}@corpus.example>\r\n`
      const alternative = [
        `${top('alt')}Subject: alternative\r\nMIME-Version: 1.0\r\nContent-Type: multipart/alternative; boundary="a-b"\r\n\r\n--a-b\r\n`,
        part,
        `\r\n--a-b\r\nContent-Type: text/html; charset=utf-8\r\n\r\n${HTML}\r\n--a-b--\r\n`,
      ]
      const mixed = [
        `${top('mix')}Subject: mixed\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=mix\r\n\r\nignored\r\n--mix\r\n`,
        part,
        `\r\n--mix\r\nContent-Type: application/octet-stream\r\nContent-Transfer-Encoding: base64\r\nContent-Disposition: attachment; filename="a.bin"\r\n\r\n${lines(FILE.toString('base64'))}\r\n--mix--\r\n`,
      ]
      return [
        [`plain ${id}`, joined([`${top('plain')}Subject: ${word('B')}\r\nMIME-Version: 1.0\r\n`, part])],
        [
          `encoded name ${id}`,
          joined([
            `${top('q')
              .replace('ada@', `${word('Q')} <ada@`)
              .replace('example.org\r', 'example.org>\r')}Subject: ${word('Q')}\r\nMIME-Version: 1.0\r\n`,
            part,
          ]),
        ],
        [
          `upper case ${id}`,
          joined([
            `${top('upper')}Subject: x\r\n`,
            part.toString('latin1').split('\r\n\r\n')[0]!.toUpperCase(),
            '\r\n\r\n',
            encoded(bytes, encoding),
          ]),
        ],
        [`alternative ${id}`, joined(alternative)],
        [`mixed ${id}`, joined(mixed)],
      ]
    }),
  )
}

const TOP =
  'From: "Ada, Countess" <ada@example.org>\r\nTo: desk@acme.example\r\nMessage-ID: <%n@shape.example>\r\nMIME-Version: 1.0\r\n'

function structures(): Named[] {
  const deep = (depth: number): string =>
    depth === 0
      ? 'Content-Type: text/plain\r\n\r\ndeep inside'
      : `Content-Type: multipart/mixed; boundary=b${depth}\r\n\r\n--b${depth}\r\n${deep(depth - 1)}\r\n--b${depth}--`
  const file = (name: string) =>
    `Content-Type: application/pdf; ${name}\r\nContent-Transfer-Encoding: base64\r\nContent-Disposition: attachment; ${name.replace(/\bname/g, 'filename')}\r\n\r\n${lines(FILE.toString('base64'))}`
  const withFile = (name: string) =>
    `${TOP}Subject: file\r\nContent-Type: multipart/mixed; boundary=m\r\n\r\n--m\r\nContent-Type: text/plain\r\n\r\nsee\r\n--m\r\n${file(name)}\r\n--m--\r\n`
  return [
    ...Array.from({ length: 20 }, (_, i): Named => [`nested ${i + 1}`, `${TOP}Subject: deep\r\n${deep(i + 1)}\r\n`]),
    ...[
      'name="a.pdf"',
      'name=a.pdf',
      'name="a b.pdf"',
      'name="=?UTF-8?B?w5xiZXIucGRm?="',
      "name*=UTF-8''%C3%9Cber.pdf",
      'name*0="lo"; name*1="ng.pdf"',
      "name*0*=UTF-8''%C3%9C; name*1*=ber.pdf",
    ].map((name): Named => [`file ${name}`, withFile(name)]),
    ...Array.from(
      { length: 10 },
      (_, i): Named => [
        `${i + 1} files`,
        `${TOP}Subject: files\r\nContent-Type: multipart/mixed; boundary=m\r\n\r\n--m\r\nContent-Type: text/plain\r\n\r\nsee\r\n${Array.from({ length: i + 1 }, (_, n) => `--m\r\n${file(`name="${n}.pdf"`)}\r\n`).join('')}--m--\r\n`,
      ],
    ),
    [
      'mixed, related and alternative',
      `${TOP}Subject: all\r\nContent-Type: multipart/mixed; boundary=m\r\n\r\n--m\r\nContent-Type: multipart/related; boundary=r\r\n\r\n--r\r\nContent-Type: multipart/alternative; boundary=a\r\n\r\n--a\r\nContent-Type: text/plain\r\n\r\nthe text\r\n--a\r\nContent-Type: text/html\r\n\r\n${HTML}<img src="cid:x">\r\n--a--\r\n--r\r\nContent-Type: image/png\r\nContent-ID: <x>\r\nContent-Transfer-Encoding: base64\r\nContent-Disposition: inline; filename=x.png\r\n\r\n${lines(FILE.toString('base64'))}\r\n--r--\r\n--m\r\n${file('name="b.pdf"')}\r\n--m--\r\n`,
    ],
    ['html only', `${TOP}Subject: html\r\nContent-Type: text/html; charset=utf-8\r\n\r\n${HTML}`],
    [
      'format flowed',
      `${TOP}Subject: flowed\r\nContent-Type: text/plain; format=flowed\r\n\r\nOne line \r\nthat goes on.\r\nAnother.\r\n`,
    ],
  ]
}

function headers(): Named[] {
  const message = (name: string, value: string): Named => [
    `${name}: ${value.slice(0, 40)}`,
    `${name === 'From' ? '' : 'From: ada@example.org\r\n'}${name === 'To' ? '' : 'To: desk@acme.example\r\n'}${name === 'Message-ID' ? '' : 'Message-ID: <%n@header.example>\r\n'}${name}: ${value}\r\n\r\nbody\r\n`,
  ]
  return [
    ...[
      'ada@example.org',
      'Ada <ada@example.org>',
      '"Lovelace, Ada" <ada@example.org>',
      'ada@example.org (Ada)',
      '=?UTF-8?Q?=C3=84da?= <ada@example.org>',
      '<ada@example.org>',
      'Ada Lovelace\r\n <ada@example.org>',
      '"Ada \\"the first\\"" <ada@example.org>',
    ].map((value) => message('From', value)),
    ...[
      'a@example.org, b@example.org',
      'A <a@example.org>,\r\n B <b@example.org>,\r\n\tC <c@example.org>',
      'Team: a@example.org, b@example.org;',
      'undisclosed-recipients:;',
      '"x@y.example" <a@example.org>',
      Array.from({ length: 100 }, (_, i) => `p${i}@example.org`).join(',\r\n '),
    ].map((value) => message('To', value)),
    ...[
      'one\r\n two\r\n\tthree',
      '=?UTF-8?B?R3LDvMOfZQ==?= =?UTF-8?B?IGFuIGFsbGU=?=',
      '=?utf-8?q?a_b=20c?=',
      '=?UTF-8?B?R3LD?=\r\n =?UTF-8?B?vMOfZQ==?=',
      'Re: Re: =?iso-8859-1?Q?caf=E9?= again',
      'x'.repeat(900),
      '',
    ].map((value) => message('Subject', value)),
    ...['<a@b>', '<A.b-c+d@e.example>', ' <spaces@example.org> '].map((value) => message('Message-ID', value)),
    ...['<1@x.example>', '<1@x.example> <2@x.example>', '<1@x.example>\r\n\t<2@x.example>\r\n <3@x.example>'].flatMap(
      (value) => [message('References', value), message('In-Reply-To', value.split(/\s/)[0]!)],
    ),
  ]
}

function broken(): Named[] {
  const top = 'From: ada@example.org\r\nTo: desk@acme.example\r\nMessage-ID: <%n@broken.example>\r\n'
  const mixed = `${top}Subject: cut\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=m\r\n\r\n--m\r\nContent-Type: text/plain\r\n\r\nthe text\r\n--m\r\nContent-Type: text/plain\r\nContent-Disposition: attachment; filename=a.txt\r\n\r\nthe file\r\n--m--\r\n`
  return [
    ['line feeds alone', mixed.replaceAll('\r\n', '\n')],
    ['no end of the last part', mixed.replace('--m--\r\n', '')],
    ['text after the end', `${mixed}epilogue\r\n`],
    ['a header without a colon', `${top}this is nothing\r\nSubject: kept\r\n\r\nbody`],
    ['two subjects', `${top}Subject: one\r\nSubject: two\r\n\r\nbody`],
    ['no body', top],
    ['an unknown charset', `${top}Subject: x\r\nContent-Type: text/plain; charset=x-nowhere\r\n\r\nplain letters`],
    [
      'an unknown encoding',
      `${top}Subject: x\r\nContent-Type: text/plain\r\nContent-Transfer-Encoding: x-nothing\r\n\r\nplain letters`,
    ],
    ['a broken date', `${top}Date: yesterday\r\nSubject: x\r\n\r\nbody`],
    [
      'a soft break at the end',
      `${top}Subject: x\r\nContent-Type: text/plain\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\nend=`,
    ],
    ...Array.from({ length: 20 }, (_, i): Named => [`cut after ${i * 20 + 160} bytes`, mixed.slice(0, i * 20 + 160)]),
  ]
}

function encoded(bytes: Buffer, encoding: Encoding): string | Buffer {
  if (encoding === '8bit') return bytes
  return encoding === 'base64' ? lines(bytes.toString('base64')) : quoted(bytes, false)
}

function quoted(bytes: Buffer, inHeader = true): string {
  return Array.from(bytes, (byte) => {
    const letter = String.fromCharCode(byte)
    if (byte === 32) return inHeader ? '_' : ' '
    return /[A-Za-z0-9]/.test(letter) ? letter : `=${byte.toString(16).toUpperCase().padStart(2, '0')}`
  }).join('')
}

function lines(text: string): string {
  return text.replace(/.{76}/g, '$&\r\n')
}

function joined(parts: readonly (string | Buffer)[]): Buffer {
  return Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part, 'utf8') : part)))
}
