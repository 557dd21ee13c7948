import { hasGs1CheckDigit } from "../gs1/check-digits.ts";

/**
 * Returns whether the check digit of a tracking number is correct. The serial number from which it is computed is between two
 * indexes of the text, and the check digit is at the second one. Indexes are passed instead of parts of the text, because most
 * numbers are compared with several formats.
 */
export type CheckDigit = (number: string, from: number, at: number) => boolean;

/** The value of a digit. */
const digitAt = (number: string, index: number): number => number.charCodeAt(index) - 48;

/** Modulo 10, with a weight for each character from the left. The value of a letter is its ASCII code minus 3. */
function modulo10(even: number, odd: number, prefix = ""): CheckDigit {
  const sumOf = (text: string, from: number, to: number, first: number, second: number): number => {
    let sum = 0;
    for (let index = from; index < to; index++) {
      const code = text.charCodeAt(index);
      sum += (code < 58 ? code - 48 : (code - 3) % 10) * ((index - from) % 2 === 0 ? first : second);
    }
    return sum;
  };
  const sumOfPrefix = sumOf(prefix, 0, prefix.length, even, odd);
  const isEvenBehind = prefix.length % 2 === 0;
  // Leading digits that are omitted in the number have weights as well.
  return (number, from, at) => {
    const sum =
      prefix === "" || number.startsWith(prefix, from)
        ? sumOf(number, from, at, even, odd)
        : sumOfPrefix + sumOf(number, from, at, isEvenBehind ? even : odd, isEvenBehind ? odd : even);
    return (10 - (sum % 10)) % 10 === digitAt(number, at);
  };
}

/** The check digit of GS1, for numbers of digits only. */
export const gs1: CheckDigit = (number, from, at) => hasGs1CheckDigit(number, from, at + 1);

/** The same for numbers with letters, of which the last digit of the ASCII code counts. */
const gs1WithLetters: CheckDigit = (number, from, at) => {
  const digits = number.slice(from, at + 1).replaceAll(/[A-Z]/g, (letter) => `${letter.charCodeAt(0) % 10}`);
  return hasGs1CheckDigit(digits);
};

/** The remainder of the division by 7. */
export const modulo7: CheckDigit = (number, from, at) =>
  Number(number.slice(from, at)) % 7 === digitAt(number, at);

/** The sum of the weighted digits modulo 11, and the result modulo 10. */
function weighted(weights: readonly number[]): CheckDigit {
  return (number, from, at) => (weightedSum(number, from, weights) % 11) % 10 === digitAt(number, at);
}

const s10Weights = [8, 6, 4, 2, 3, 5, 9, 7];

/** UPU S10: 11 minus the remainder of the division by 11; 10 becomes 0, and 11 becomes 5. */
const s10: CheckDigit = (number, from, at) => {
  const rest = 11 - (weightedSum(number, from, s10Weights) % 11);
  return (rest === 10 ? 0 : rest === 11 ? 5 : rest) === digitAt(number, at);
};

/** ISO/IEC 7812: every second digit from the right is doubled. */
const luhn: CheckDigit = (number, from, at) => {
  let sum = digitAt(number, at);
  for (let index = at - 1; index >= from; index--) {
    const digit = digitAt(number, index);
    sum += (at - index) % 2 === 1 ? digit * 2 - (digit > 4 ? 9 : 0) : digit;
  }
  return sum % 10 === 0;
};

/** ISO/IEC 7064, modulo 37 and 36, over digits and letters. */
const modulo37and36: CheckDigit = (number, from, at) => {
  let rest = 36;
  for (let index = from; index < at; index++) {
    rest += Number.parseInt(number.charAt(index), 36);
    rest = (rest > 36 ? rest - 36 : rest) * 2;
    rest = rest > 36 ? rest - 37 : rest;
  }
  return (37 - rest) % 36 === Number.parseInt(number.charAt(at), 36);
};

function weightedSum(number: string, from: number, weights: readonly number[]): number {
  let sum = 0;
  for (let index = 0; index < weights.length; index++) {
    sum += (weights[index] ?? 0) * digitAt(number, from + index);
  }
  return sum;
}

const upsServices: Readonly<Record<string, string>> = {
  "01": "Next Day Air",
  "02": "2nd Day Air",
  "03": "Ground",
  "12": "3 Day Select",
  "13": "Next Day Air Saver",
  "15": "Next Day Air Early",
  "22": "Ground, returns with three attempts",
  "32": "Next Day Air Early, COD",
  "33": "Next Day Air Early, Saturday, COD",
  "41": "Next Day Air Early, Saturday",
  "42": "Ground, signature required",
  "44": "Next Day Air, Saturday",
  "66": "Worldwide Express",
  "72": "Ground, COD",
  "78": "Ground, returns with one attempt",
  "90": "Ground, returns",
  A0: "Next Day Air Early, adult signature",
  A1: "Next Day Air Early, Saturday, adult signature",
  A2: "Next Day Air, adult signature",
  A8: "Ground, adult signature",
  A9: "Next Day Air Early, adult signature, COD",
  AA: "Next Day Air Early, Saturday, adult signature, COD",
  YW: "SurePost",
};

/** The service of a code that is not in the list is not known, because UPS assigns codes by country. */
function upsService(code: string): string {
  return upsServices[code] ?? "UPS";
}

const s10Services: readonly (readonly [RegExp, string])[] = [
  [/^E/, "EMS"],
  [/^L/, "Letter post express"],
  [/^M/, "Letter post M-bag"],
  [/^Q[A-M]/, "Letter post IBRS"],
  [/^R/, "Letter post registered"],
  [/^U/, "Letter post"],
  [/^V/, "Letter post insured"],
  [/^C/, "Parcel post"],
  [/^H/, "Parcel post e-commerce"],
  [/^(?:[BDNPZ]|A[V-Z]|G[AD])/, "Domestic"],
];

/** The kind of item by the first two letters of a UPU S10 number. */
function s10Service(number: string): string {
  return s10Services.find(([pattern]) => pattern.test(number))?.[1] ?? "UPU S10";
}

/** The countries whose postal services issue UPU S10 numbers, with two letters each. */
const countries =
  "AEAFAGALAMAOARATAUAZBABBBDBEBFBGBHBIBJBNBOBRBSBTBWBYBZCACDCFCGCHCICLCMCNCOCRCUCVCYCZDEDJDKDMDODZECEEEGERESETFIFJFRGA" +
  "GBGDGEGHGMGNGQGRGTGWGYHKHNHRHTHUIDIEILINIQIRISITJMJOJPKEKGKHKIKMKNKPKRKWKZLALBLCLILKLRLSLTLULVLYMAMCMDMEMGMKMLMMMNMR" +
  "MTMUMVMWMXMYMZNANENGNINLNONPNRNZOMPAPEPGPHPKPLPTPYQARORSRURWSASBSCSDSESGSISKSLSMSNSOSRSSSTSVSYSZTDTGTHTJTLTMTNTOTRTT" +
  "TVTZUAUGUSUYUZVAVCVEVNVUWSYEZAZMZW";

const postalServices: readonly string[] = countries.match(/../g) ?? [];

/** One kind of tracking number. */
export interface Format {
  readonly carrier: string;
  readonly service: string;
  /** The possible lengths and first characters of the text. No other text is compared with the pattern. */
  readonly lengths: readonly number[];
  readonly first: string;
  /** Matches the whole text. If it has a group, that is the tracking number; otherwise the whole text is. */
  readonly pattern: RegExp;
  /** How the check digit is computed; left out if the format has none, or if it is not known. */
  readonly check?: CheckDigit;
  /** Nothing else begins like it, so that it is the number without a check digit. */
  readonly isCertain?: true;
  /** Index at which the part begins from which the check digit is computed; 0 if left out. */
  readonly serialFrom?: number;
  /** Index of the check digit in the number; the last character if left out. */
  readonly checkAt?: number;
  /** Returns the tracking number as the carrier prints it, where the code holds more; the whole if left out. */
  readonly printed?: (number: string) => string;
  /** Returns the service that the number names. */
  readonly serviceOf?: (number: string) => string;
}

const digits = "0123456789";
const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";

const fedex12 = weighted([3, 1, 7, 3, 1, 7, 3, 1, 7, 3, 1]);
const fedex14 = weighted([1, 7, 3, 1, 7, 3, 1, 7, 3, 1, 7, 3, 1]);
/** With ZIP+4 in front, USPS's numbers have as many digits. */
const isBehindZip4 = /^420\d{9}9[1-5]/;
const fedex34: CheckDigit = (number, from, at) => !isBehindZip4.test(number) && fedex14(number, from, at);
const ups = modulo10(1, 2);
const identcode = modulo10(4, 9);
const upTo = (first: number, last: number): number[] =>
  Array.from({ length: last - first + 1 }, (_, index) => first + index);
/** FedEx prints the tracking number of 12 digits, for which its codes of 34 have room for 14. */
const last14: Format["printed"] = (number) => number.slice(-14).replace(/^00/, "");
/** Place, consignment, article 01 to 20, product, service, payment, check digit. */
const australiaPost = "[A-Z0-9]{3}(?:[A-Z0-9]{2})?\\d{7}(?:0[1-9]|1\\d|20)00\\d{5}0\\d";
const routed = "^(?:420\\d{5}(?:\\d{4})?)?";

/**
 * The formats of tracking numbers. The facts are from jkeen/tracking_number_data, release 2.0.0
 * (https://github.com/jkeen/tracking_number_data, MIT), which also says which part of a code of FedEx and DPD is the number that
 * they print. It does not have Identcode, Leitcode and the numbers of DHL Paket and
 * Hermes: those are from their carriers' public descriptions. Of those that name another source, it is there. No pattern can backtrack, so each takes time in proportion to
 * the length of the text.
 */
export const formats: readonly Format[] = [
  {
    carrier: "UPS",
    service: "UPS",
    lengths: [18],
    first: "1",
    pattern: /^1Z[A-Z0-9]{15}\d$/,
    check: ups,
    serialFrom: 2,
    serviceOf: (number) => upsService(number.slice(8, 10)),
  },
  {
    carrier: "UPS",
    service: "Waybill",
    lengths: [11],
    first: "AHJKTV",
    pattern: /^[AHJKTV]\d{10}$/,
    check: ups,
    serialFrom: 1,
  },
  ofDigits("FedEx", "Express (12)", 12, fedex12),
  ofDigits("FedEx", "Express (34)", 34, fedex34, { first: "012345678", serialFrom: 20, printed: last14 }),
  {
    carrier: "FedEx",
    service: "ASTRA (32)",
    lengths: [32],
    first: "3",
    pattern: /^3\d{15}(\d{12})\d{4}$/,
    check: fedex12,
  },
  ofDigits("FedEx", "Ground (15)", 15, gs1),
  ofDigits("FedEx", "Ground SSCC (18)", 18, gs1, { serialFrom: 2 }),
  ofDigits("FedEx", "Ground 96 (22)", 22, gs1, {
    prefix: "96",
    serialFrom: 7,
    printed: (number) => number.slice(7),
  }),
  ofDigits("FedEx", "Ground GSN (34)", 34, fedex14, { prefix: "96", serialFrom: 20, printed: last14 }),
  ofDigits("USPS", "USPS 20", 20, gs1),
  {
    carrier: "USPS",
    service: "Legacy",
    lengths: [20, 22, 28, 30, 32, 34],
    first: digits,
    pattern: new RegExp(`${routed}((?:91)?\\d{20})$`),
    check: modulo10(3, 1, "91"),
  },
  {
    carrier: "USPS",
    service: "IMpb, online or vendor label",
    lengths: [22, 26, 30, 34, 38, 42],
    first: "49",
    pattern: new RegExp(
      `${routed}(94\\d{3}(?:9\\d{8}(?:\\d{15}|\\d{11}|\\d{7})|[0-8]\\d{5}(?:\\d{14}|\\d{10}))\\d)$`,
    ),
    check: gs1,
  },
  {
    carrier: "USPS",
    service: "IMpb, mailer or retail",
    lengths: [22, 26, 30, 34, 38],
    first: "49",
    pattern: new RegExp(
      `${routed}((?:92\\d{3}(?=9)|93\\d{3}(?=[0-8])|95\\d{3})` +
        `(?:9\\d{8}(?:\\d{11}|\\d{7})|[0-8]\\d{5}(?:\\d{14}|\\d{10}))\\d)$`,
    ),
    check: gs1,
  },
  {
    carrier: "DHL",
    service: "Express",
    lengths: [10, 11],
    first: digits,
    pattern: /^\d{10,11}$/,
    check: modulo7,
  },
  {
    carrier: "DHL",
    service: "Express (piece)",
    lengths: [12, 13, 14],
    first: "J",
    pattern: /^J[A-Z]{2,3}\d{9,10}$/,
  },
  {
    carrier: "DHL",
    service: "eCommerce",
    lengths: upTo(12, 41),
    first: "GLRUCSTIHM",
    pattern: /^(?:GM|LX|RX|UV|CN|SG|TH|IN|HK|MY)(?=[A-Z]{0,38}\d)[0-9A-Z]{10,39}$/,
  },
  ofDigits("DHL", "eCommerce (14)", 14),
  ofDigits("DHL", "Paket (20)", 20, gs1, { prefix: "0034", serialFrom: 2 }),
  { carrier: "DHL", service: "Paket (JJD)", lengths: upTo(15, 23), first: "J", pattern: /^JJD\d{12,20}$/ },
  ofDigits("DHL", "Paket Identcode (12)", 12, identcode),
  ofDigits("DHL", "Paket Leitcode (14)", 14, identcode),
  {
    carrier: "DPD",
    service: "DPD (28)",
    lengths: [28, 29],
    first: `${digits}%`,
    // A postal code of 7 characters, the tracking number, the service and the country, of 3 digits each.
    pattern: /^%?(\d{27}[0-9A-Z])$/,
    check: modulo37and36,
    printed: (number) => number.slice(7, 21),
  },
  {
    carrier: "DPD",
    service: "DPD (14)",
    lengths: [15],
    first: digits,
    pattern: /^\d{14}[0-9A-Z]$/,
    check: modulo37and36,
  },
  ofDigits("Hermes", "Hermes (14)", 14, gs1),
  {
    carrier: "UPU S10",
    service: "UPU S10",
    lengths: [13],
    first: letters,
    pattern: new RegExp(`^[A-Z]{2}\\d{9}(?:${postalServices.join("|")})$`),
    check: s10,
    serialFrom: 2,
    checkAt: 10,
    serviceOf: s10Service,
  },
  { carrier: "Amazon", service: "Logistics", lengths: [15], first: "T", pattern: /^TB[ACM]\d{12}$/ },
  { carrier: "Amazon", service: "International", lengths: [11], first: "AFC", pattern: /^[AFC]\d{10}$/ },
  ofDigits("Canada Post", "Canada Post (16)", 16, gs1),
  {
    carrier: "Canpar",
    service: "Canpar (22)",
    lengths: [22],
    first: "CDKLSUXZ",
    pattern: /^[CDKLSUXZ]\d{21}$/,
  },
  { carrier: "GOFO Express", service: "US", lengths: [18], first: "G", pattern: /^GFUS\d{14}$/ },
  { carrier: "Landmark Global", service: "LTN", lengths: [13], first: "L", pattern: /^LTN\d{8}N1$/ },
  { carrier: "LaserShip", service: "LX", lengths: [10], first: "L", pattern: /^L[AIEHNX][1-3]\d{7}$/ },
  { carrier: "LaserShip", service: "1LS7 (15)", lengths: [15], first: "1", pattern: /^1LS7[12]\d{10}$/ },
  {
    carrier: "LaserShip",
    service: "1LS7 (18)",
    lengths: [18],
    first: "1",
    pattern: /^1LS7[12]\d{2}01[1-4]\d{6}-1$/,
  },
  { carrier: "LaserShip", service: "1LSCX (15)", lengths: [15], first: "1", pattern: /^1LSCX[0-9A-Z]{10}$/ },
  {
    carrier: "Old Dominion",
    service: "Old Dominion",
    lengths: [11],
    first: "07",
    pattern: /^(?:77[78]|072|780)\d{8}$/,
    check: luhn,
  },
  ofDigits("Old Dominion", "Guaranteed", 11, luhn, { prefix: "80" }),
  {
    carrier: "OnTrac",
    service: "C",
    lengths: [15],
    first: "C",
    pattern: /^C\d{14}$/,
    check: modulo10(1, 2, "4"),
    serialFrom: 1,
  },
  {
    carrier: "OnTrac",
    service: "D",
    lengths: [15],
    first: "D",
    pattern: /^D\d{14}$/,
    check: modulo10(1, 2, "5"),
    serialFrom: 1,
  },
  ofDigits("Purolator", "Purolator (12)", 12, luhn, { first: "012345" }),
  {
    carrier: "Purolator",
    service: "Purolator (letters)",
    lengths: [12],
    first: letters,
    pattern: /^[A-Z]{3}\d{9}$/,
  },
  { carrier: "Spee-Dee", service: "Spee-Dee (20)", lengths: [20], first: "S", pattern: /^SP\d{18}$/ },
  { carrier: "Yodel", service: "Yodel", lengths: [18, 19], first: "J", pattern: /^JJ?D\d{16}$/ },
  { carrier: "YunExpress", service: "YunExpress", lengths: [18], first: "Y", pattern: /^YT\d{16}$/ },
  // CPAN, Business::Colissimo 0.22: two characters of the product, the number of ten digits, the check digit.
  {
    carrier: "La Poste",
    service: "Colissimo",
    lengths: [13],
    first: digits,
    pattern: /^\d[A-Z]\d{11}$/,
    check: gs1,
    serialFrom: 2,
  },
  // developer.postnl.nl, barcode webservice: 3S, the customer's letters and digits are 13 or 15 characters.
  {
    carrier: "PostNL",
    service: "3S",
    lengths: [13, 15],
    first: "3",
    pattern: /^3S(?:[A-Z]{4}\d{7}|[A-Z]{4}\d{9}|[A-Z]{3}\d{8}|[A-Z]{3}\d{10}|[A-Z]{2}\d{9}|[A-Z]{2}\d{11})$/,
  },
  // developers.auspost.com.au, label metadata: the article number is in element 91, behind an article number that all parcels have. Its
  // parts and its check digit are those of the Parcel Post and Express Post label and barcode specification 1.4, as public readers of
  // the label give them; eight published numbers agree. The elements behind it may have lost their FNC1.
  {
    carrier: "Australia Post",
    service: "Parcel Post, Express Post",
    lengths: [21, 23],
    first: digits + letters,
    pattern: new RegExp(`^${australiaPost}$`),
    check: gs1WithLetters,
  },
  {
    carrier: "Australia Post",
    service: "Parcel Post, Express Post (GS1)",
    lengths: upTo(23, 60),
    first: "9",
    pattern: new RegExp(`^91(${australiaPost})(?:420\\d{4}(?:92\\d{10})?(?:8008\\d{8,12})?)?$`),
    check: gs1WithLetters,
  },
  // neodynamic.com, Australia Post Domestic eParcel Barcode: location, consignment, article 01 to 20, service, last article or not, check.
  {
    carrier: "Australia Post",
    service: "eParcel article",
    lengths: [16],
    first: digits + letters,
    pattern: /^[A-Z0-9]{3}\d{7}(?:0[1-9]|1\d|20)\d{2}[12]\d$/,
  },
  // woocommerce.github.io/code-reference, EvriHermesShippingProvider.
  {
    carrier: "Evri",
    service: "Evri (16)",
    lengths: [16],
    first: digits + letters,
    pattern: /^(?:\d{16}|[A-Z]\d{2}[A-Z0-9]{13})$/,
  },
  // nanoappli.com/blog/archives/369. It is printed in Codabar, whose start and stop characters some scanners send.
  ofCodabar("Yamato", "Yamato (12)", 12),
  // foodp.hatenadiary.org/entry/20070927/p1: registered and recorded mail.
  ofCodabar("Japan Post", "Registered (11)", 11),
  // 55jiaoyu.com/show-244970.html
  { carrier: "SF Express", service: "SF (15)", lengths: [15], first: "S", pattern: /^SF\d{13}$/ },
  // Royal Mail Mailmark barcode definition document 3.1 of 2014: what identifies the item, and behind it the addressee's postcode.
  {
    carrier: "Royal Mail",
    service: "Mailmark 2D",
    lengths: upTo(26, 90),
    first: "J",
    pattern: /^(JGB[0-9A-Z]{3}\d{15})[!-~]{5,69}$/,
    isCertain: true,
  },
  // docs.rs/crate/intrac, 4tracking.net/carriers/inpost
  ofDigits("InPost", "InPost (24)", 24),
];

/** A format of digits only. If it has a check digit, that is the last one. */
function ofDigits(
  carrier: string,
  service: string,
  length: number,
  check?: CheckDigit,
  { first = digits, prefix = "", serialFrom = 0, printed }: DigitOptions = {},
): Format {
  const begin =
    prefix === "" ? { first, pattern: `[${first}]` } : { first: prefix.charAt(0), pattern: prefix };
  const pattern = new RegExp(`^${begin.pattern}\\d{${length - (prefix.length || 1)}}$`);
  const format = {
    carrier,
    service,
    lengths: [length],
    first: begin.first,
    pattern,
    serialFrom,
    ...(printed === undefined ? {} : { printed }),
  };
  return check === undefined ? format : { ...format, check };
}

/** Digits in Codabar, of which the last is the remainder of the division by 7, with and without the symbol's start and stop characters. */
function ofCodabar(carrier: string, service: string, length: number): Format {
  return {
    carrier,
    service,
    lengths: [length, length + 2],
    first: `${digits}ABCD`,
    pattern: new RegExp(`^(?:[A-D](\\d{${length}})[A-D]|\\d{${length}})$`),
    check: modulo7,
  };
}

interface DigitOptions {
  /** The possible first digits; any digit if left out. */
  readonly first?: string;
  /** The digits with which every number begins. */
  readonly prefix?: string;
  readonly serialFrom?: number;
  readonly printed?: Format["printed"];
}
