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
export function upsService(code: string): string {
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
export function s10Service(number: string): string {
  return s10Services.find(([pattern]) => pattern.test(number))?.[1] ?? "UPU S10";
}

/** The countries whose postal services issue UPU S10 numbers, with two letters each. */
const countries =
  "AEAFAGALAMAOARATAUAZBABBBDBEBFBGBHBIBJBNBOBRBSBTBWBYBZCACDCFCGCHCICLCMCNCOCRCUCVCYCZDEDJDKDMDODZECEEEGERESETFIFJFRGA" +
  "GBGDGEGHGMGNGQGRGTGWGYHKHNHRHTHUIDIEILINIQIRISITJMJOJPKEKGKHKIKMKNKPKRKWKZLALBLCLILKLRLSLTLULVLYMAMCMDMEMGMKMLMMMNMR" +
  "MTMUMVMWMXMYMZNANENGNINLNONPNRNZOMPAPEPGPHPKPLPTPYQARORSRURWSASBSCSDSESGSISKSLSMSNSOSRSSSTSVSYSZTDTGTHTJTLTMTNTOTRTT" +
  "TVTZUAUGUSUYUZVAVCVEVNVUWSYEZAZMZW";

export const postalServices: readonly string[] = countries.match(/../g) ?? [];
