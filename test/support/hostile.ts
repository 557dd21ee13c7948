/** Texts that must arrive unchanged; of a lone surrogate only U+FFFD can, since UTF-8 has nothing else for it. */
export const hostileTexts: readonly string[] = [
  "a b+c",
  "a&TransactionReference=x",
  "a#b?c=d",
  "100%",
  "%41",
  "a=b;c",
  "a\r\nX-Injected: 1\r\n\r\nGET /api/v1/measure HTTP/1.1",
  "\0\x01\x7f",
  "größe",
  "📦 ё 箱",
  "\ud83d",
  "a\udc00b",
  "../../measure",
  '"><script>',
  "'; DROP TABLE",
  " ",
  "x".repeat(199),
];

/** Ids that a server could read as another path, or that are none. */
export const hostileIds: readonly string[] = [
  "",
  " ",
  "\t",
  ".",
  " . ",
  "..",
  " ..",
  "../measure",
  "..\\measure",
  "x/../measure",
  "/measure",
  "a/b",
  "a\\b",
  "..%2fmeasure",
  "%2e%2e%2fmeasure",
  "%252e%252e%252fmeasure",
  "%2e",
  "..;/measure",
  "．．／measure",
  "․․∕measure",
  "‥",
  "…",
  "a／b",
  "a＼b",
  "％2e％2e",
  "x?y=z",
  "x#y",
  "x\r\ny",
  "x\0",
  "\u0085",
  "x".repeat(201),
];

/** Texts that a screen or a log could treat as more than text. */
export const showyTexts: readonly string[] = [
  `<img src="x" onerror="dimensionerHacked=1">`,
  `<script>dimensionerHacked=1</script>`,
  `"><svg/onload=dimensionerHacked=1>`,
  `javascript:dimensionerHacked=1`,
  `$t(palette) __host__ {{html}} \${TOKEN}`,
  "\u202eevil\u2066txt\u200f",
  "\x1b[31mred\x1b]0;title\x07\x9b2J",
  "first\r\n[error] forged line\u2028\u2029\x85second",
  "📦👩‍👩‍👧‍👦".repeat(20),
  "half\ud83d",
  "x".repeat(100_000),
  "%s %d %o %c %j",
];

/** Names of properties that every object has. */
export const prototypeNames: readonly string[] = [
  "__proto__",
  "constructor",
  "prototype",
  "toString",
  "valueOf",
  "hasOwnProperty",
  "constructor.prototype.polluted",
  "__proto__.polluted",
];

/** Characters that no log, status or sentence may contain: they would forge a line, a colour or a direction. */
export const controls = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/u;
