import { gs1, luhn, modulo10, modulo37and36, modulo7, s10, weighted, type CheckDigit } from "./checks.ts";
import { postalServices, s10Service, upsService } from "./services.ts";

/**
 * One kind of tracking number. Groups of the pattern: `number` is the tracking number where it is not all of the text,
 * `serial` and `check` are what the check digit is about, `service` says more closely what the service is.
 */
export interface Format {
  readonly carrier: string;
  readonly service: string;
  /** How many characters the text can have. */
  readonly lengths: readonly number[];
  readonly pattern: RegExp;
  /** Without one, the format has no check digit that is known. */
  readonly check?: CheckDigit;
  readonly serviceOf?: (code: string) => string;
}

const fedex12 = weighted([3, 1, 7, 3, 1, 7, 3, 1, 7, 3, 1]);
const fedex14 = weighted([1, 7, 3, 1, 7, 3, 1, 7, 3, 1, 7, 3, 1]);
const ups = modulo10(1, 2);
const identcode = modulo10(4, 9);
const upTo = (first: number, last: number): number[] =>
  Array.from({ length: last - first + 1 }, (_, index) => first + index);
const routed = "^(?:420\\d{5}(?:\\d{4})?)?";

/**
 * The formats of tracking numbers. The facts, as far as its pages go, are those of jkeen/tracking_number_data, release 2.0.0
 * (https://github.com/jkeen/tracking_number_data, MIT); Identcode, Leitcode and the numbers of DHL Paket and Hermes are from
 * their carriers' public descriptions. Patterns have fixed lengths and nothing to backtrack.
 */
export const formats: readonly Format[] = [
  {
    carrier: "UPS",
    service: "UPS",
    lengths: [18],
    pattern: /^1Z(?<serial>[A-Z0-9]{6}(?<service>[A-Z0-9]{2})[A-Z0-9]{7})(?<check>\d)$/,
    check: ups,
    serviceOf: upsService,
  },
  {
    carrier: "UPS",
    service: "Waybill",
    lengths: [11],
    pattern: /^[AHJKTV](?<serial>\d{9})(?<check>\d)$/,
    check: ups,
  },
  {
    carrier: "FedEx",
    service: "Express (12)",
    lengths: [12],
    pattern: /^(?<serial>\d{11})(?<check>\d)$/,
    check: fedex12,
  },
  {
    carrier: "FedEx",
    service: "Express (34)",
    lengths: [34],
    pattern: /^[0-8]\d{19}(?<serial>\d{13})(?<check>\d)$/,
    check: fedex14,
  },
  {
    carrier: "FedEx",
    service: "ASTRA (32)",
    lengths: [32],
    pattern: /^3\d{15}(?<number>(?<serial>\d{11})(?<check>\d))\d{4}$/,
    check: fedex12,
  },
  {
    carrier: "FedEx",
    service: "Ground (15)",
    lengths: [15],
    pattern: /^(?<serial>\d{14})(?<check>\d)$/,
    check: gs1,
  },
  {
    carrier: "FedEx",
    service: "Ground SSCC (18)",
    lengths: [18],
    pattern: /^\d\d(?<serial>\d{15})(?<check>\d)$/,
    check: gs1,
  },
  {
    carrier: "FedEx",
    service: "Ground 96 (22)",
    lengths: [22],
    pattern: /^96\d{5}(?<serial>\d{14})(?<check>\d)$/,
    check: gs1,
  },
  {
    carrier: "FedEx",
    service: "Ground GSN (34)",
    lengths: [34],
    pattern: /^96\d{18}(?<serial>\d{13})(?<check>\d)$/,
    check: fedex14,
  },
  {
    carrier: "USPS",
    service: "USPS 20",
    lengths: [20],
    pattern: /^(?<serial>\d{19})(?<check>\d)$/,
    check: gs1,
  },
  {
    carrier: "USPS",
    service: "Legacy",
    lengths: [20, 22, 28, 30, 32, 34],
    pattern: new RegExp(`${routed}(?<number>(?<serial>(?:91)?\\d{19})(?<check>\\d))$`),
    check: modulo10(3, 1, (serial) => (serial.startsWith("91") ? "" : "91")),
  },
  {
    carrier: "USPS",
    service: "IMpb, online or vendor label",
    lengths: [22, 26, 30, 34, 38, 42],
    pattern: new RegExp(
      `${routed}(?<number>(?<serial>94\\d{3}(?:9\\d{8}(?:\\d{15}|\\d{11}|\\d{7})|[0-8]\\d{5}(?:\\d{14}|\\d{10})))(?<check>\\d))$`,
    ),
    check: gs1,
  },
  {
    carrier: "USPS",
    service: "IMpb, mailer or retail",
    lengths: [22, 26, 30, 34, 38],
    pattern: new RegExp(
      `${routed}(?<number>(?<serial>(?:92\\d{3}(?=9)|93\\d{3}(?=[0-8])|95\\d{3})` +
        `(?:9\\d{8}(?:\\d{11}|\\d{7})|[0-8]\\d{5}(?:\\d{14}|\\d{10})))(?<check>\\d))$`,
    ),
    check: gs1,
  },
  {
    carrier: "DHL",
    service: "Express",
    lengths: [10, 11],
    pattern: /^(?<serial>\d{9,10})(?<check>\d)$/,
    check: modulo7,
  },
  { carrier: "DHL", service: "Express (piece)", lengths: [12, 13, 14], pattern: /^J[A-Z]{2,3}\d{9,10}$/ },
  {
    carrier: "DHL",
    service: "eCommerce",
    lengths: upTo(12, 41),
    pattern: /^(?:GM|LX|RX|UV|CN|SG|TH|IN|HK|MY)(?=[A-Z]{0,38}\d)[0-9A-Z]{10,39}$/,
  },
  { carrier: "DHL", service: "eCommerce (14)", lengths: [14], pattern: /^\d{14}$/ },
  {
    carrier: "DHL",
    service: "Paket (20)",
    lengths: [20],
    pattern: /^00(?<serial>34\d{15})(?<check>\d)$/,
    check: gs1,
  },
  { carrier: "DHL", service: "Paket (JJD)", lengths: upTo(15, 23), pattern: /^JJD\d{12,20}$/ },
  {
    carrier: "DHL",
    service: "Paket Identcode (12)",
    lengths: [12],
    pattern: /^(?<serial>\d{11})(?<check>\d)$/,
    check: identcode,
  },
  {
    carrier: "DHL",
    service: "Paket Leitcode (14)",
    lengths: [14],
    pattern: /^(?<serial>\d{13})(?<check>\d)$/,
    check: identcode,
  },
  {
    carrier: "DPD",
    service: "DPD (28)",
    lengths: [28],
    pattern: /^(?<serial>\d{27})(?<check>[0-9A-Z])$/,
    check: modulo37and36,
  },
  {
    carrier: "DPD",
    service: "DPD (14)",
    lengths: [15],
    pattern: /^(?<serial>\d{14})(?<check>[0-9A-Z])$/,
    check: modulo37and36,
  },
  {
    carrier: "Hermes",
    service: "Hermes (14)",
    lengths: [14],
    pattern: /^(?<serial>\d{13})(?<check>\d)$/,
    check: gs1,
  },
  {
    carrier: "UPU S10",
    service: "UPU S10",
    lengths: [13],
    pattern: new RegExp(
      `^(?<service>[A-Z]{2})(?<serial>\\d{8})(?<check>\\d)(?:${postalServices.join("|")})$`,
    ),
    check: s10,
    serviceOf: s10Service,
  },
  { carrier: "Amazon", service: "Logistics", lengths: [15], pattern: /^TB[ACM]\d{12}$/ },
  { carrier: "Amazon", service: "International", lengths: [11], pattern: /^[AFC]\d{10}$/ },
  {
    carrier: "Canada Post",
    service: "Canada Post (16)",
    lengths: [16],
    pattern: /^(?<serial>\d{15})(?<check>\d)$/,
    check: gs1,
  },
  { carrier: "Canpar", service: "Canpar (22)", lengths: [22], pattern: /^[CDKLSUXZ]\d{21}$/ },
  { carrier: "GOFO Express", service: "US", lengths: [18], pattern: /^GFUS\d{14}$/ },
  { carrier: "Landmark Global", service: "LTN", lengths: [13], pattern: /^LTN\d{8}N1$/ },
  { carrier: "LaserShip", service: "LX", lengths: [10], pattern: /^L[AIEHNX][1-3]\d{7}$/ },
  { carrier: "LaserShip", service: "1LS7 (15)", lengths: [15], pattern: /^1LS7[12]\d{10}$/ },
  { carrier: "LaserShip", service: "1LS7 (18)", lengths: [18], pattern: /^1LS7[12]\d{2}01[1-4]\d{6}-1$/ },
  { carrier: "LaserShip", service: "1LSCX (15)", lengths: [15], pattern: /^1LSCX[0-9A-Z]{10}$/ },
  {
    carrier: "Old Dominion",
    service: "Old Dominion",
    lengths: [11],
    pattern: /^(?<serial>(?:77[78]|072|780)\d{7})(?<check>\d)$/,
    check: luhn,
  },
  {
    carrier: "Old Dominion",
    service: "Guaranteed",
    lengths: [11],
    pattern: /^(?<serial>80\d{8})(?<check>\d)$/,
    check: luhn,
  },
  {
    carrier: "OnTrac",
    service: "C",
    lengths: [15],
    pattern: /^C(?<serial>\d{13})(?<check>\d)$/,
    check: modulo10(1, 2, (serial) => (serial.startsWith("4") ? "" : "4")),
  },
  {
    carrier: "OnTrac",
    service: "D",
    lengths: [15],
    pattern: /^D(?<serial>\d{13})(?<check>\d)$/,
    check: modulo10(1, 2, (serial) => (serial.startsWith("5") ? "" : "5")),
  },
  {
    carrier: "Purolator",
    service: "Purolator (12)",
    lengths: [12],
    pattern: /^(?<serial>[0-5]\d{10})(?<check>\d)$/,
    check: luhn,
  },
  { carrier: "Purolator", service: "Purolator (letters)", lengths: [12], pattern: /^[A-Z]{3}\d{9}$/ },
  { carrier: "Spee-Dee", service: "Spee-Dee (20)", lengths: [20], pattern: /^SP\d{18}$/ },
  { carrier: "Yodel", service: "Yodel", lengths: [18, 19], pattern: /^JJ?D\d{16}$/ },
  { carrier: "YunExpress", service: "YunExpress", lengths: [18], pattern: /^YT\d{16}$/ },
];
