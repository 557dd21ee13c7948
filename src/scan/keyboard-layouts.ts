import type { ScanKeyboard } from "../model/shapes.ts";

/**
 * What a scanner that types the keys of a US keyboard becomes on a computer with another layout: the characters that it makes, and those
 * that were meant. From Microsoft's layouts (learn.microsoft.com, Windows keyboard layouts: KBDUS, KBDFR, KBDBE, KBDGR, KBDCZ, KBDSP,
 * KBDIT, KBDPO, KBDTUQ, KBDSW, KBDDA, KBDNO, KBDSG, KBDSF, KBDSL, KBDHU, KBDCR, KBDROST, KBDLA, KBDBR, KBDCA, KBDHE, KBDRU, KBDUR,
 * KBD106), and the full width and the digits in which those of East Asia and of Arabic type. Some codes look alike in several of them: the
 * first is named.
 */
const [made, meant] = [`-_;:=()/&"`, `/?<>)*(&^@`] as const;
/** A link, brackets, an AIM identifier or the beginning of a 2D label, with another character in front or in it. */
const hasOther = /^(?:https?[^\w:]|\)\d|[^\w\]][a-z]\d|.=\W)/i;
interface Layout {
  readonly name: string;
  readonly made: string;
  readonly meant: string;
  /** Matches what may be typed with it; what begins with another character where it is left out. */
  readonly possible?: RegExp;
}
const layouts: readonly Layout[] = [
  {
    name: "AZERTY",
    made: `&é"'(-è_çà)=1234567890°aqzwAQZW,?;.:/!§mMù%^$¨£*µ`,
    meant: `1234567890-=!@#$%^&*()_qawzQAWZmM,<.>/?;:'"[]{}\\|`,
    // Its digits are shifted.
    possible: /[&é"'(\-è_çà]{4}/,
  },
  {
    name: "AZERTY (Belgium)",
    made: `&é"'(§è!çà)-1234567890°_aqzwAQZW,?;.:/=+mMù%^$¨*µ£`,
    meant: `1234567890-=!@#$%^&*()_+qawzQAWZmM,<.>/?;:'"[]{}\\|`,
    possible: /[&é"'(§è!çà]{4}/,
  },
  {
    // With Caps Lock its digits are those of the scanner, and all else is shifted the other way.
    name: "AZERTY with Caps Lock",
    made: `abcdefghijklnopqrstuvwxyzABCDEFGHIJKLNOPQRSTUVWXYZ?,.;/:§!Mm%ù¨^£$µ*°)+=&é"'(-è_çà`,
    meant: `QBCDEFGHIJKLNOPARSTUVZXYWqbcdefghijklnoparstuvzxywmM,<.>/?;:'"[{]}\\|-_=+!@#$%^&*()`,
    possible: /^(?:1w|£[a-z]\d|ç\d|https?m)/i,
  },
  {
    name: "QWERTZ",
    made: `yzYZß´ü+öä#-"§&/()=?\`Ü*ÖÄ';:_°^`,
    meant: `zyZY-=[];'\\/@#^&*()_+{}:"|<>?~\``,
    possible: /[yzß´ü+öä=]/i,
  },
  {
    name: "QWERTZ (Czechia)",
    made: `+ěščřžýáíé=´1234567890%ˇyzYZú)ů§¨-?:_/("!'`,
    meant: `1234567890-=!@#$%^&*()_+zyZY[];'\\/<>?{}:"|`,
    possible: /[+ěščřžýáíé]{4}/,
  },
  {
    name: "QWERTZ (Slovakia)",
    made: `+ľščťžýáíé=´1234567890%ˇyzYZúäň/()ô§"!-?:_`,
    meant: `1234567890-=!@#$%^&*()_+zyZY[]\\{}|;':"/<>?`,
    possible: /[+ľščťžýáíé]{4}/,
  },
  {
    name: "QWERTZ (Hungary)",
    made: `öüó'"+!%/=()ÖÜÓyzYZőúűŐÚŰéáÉÁ-?:_`,
    meant: `0-=!@#$%^&*()_+zyZY[]\\{}|;':"/<>?`,
    possible: /[öőúé]/i,
  },
  {
    name: "Russian",
    made: `йцукенгшщзхъфывапролджэячсмитьбю.ЙЦУКЕНГШЩЗХЪФЫВАПРОЛДЖЭЯЧСМИТЬБЮ,"№;:?/`,
    meant: `qwertyuiop[]asdfghjkl;'zxcvbnm,./QWERTYUIOP{}ASDFGHJKL:"ZXCVBNM<>?@#$^&|`,
    possible: /[а-я]/i,
  },
  {
    name: "Ukrainian",
    made: `йцукенгшщзхїфівапролджєячсмитьбю.ЙЦУКЕНГШЩЗХЇФІВАПРОЛДЖЄЯЧСМИТЬБЮ,"№;:?/`,
    meant: `qwertyuiop[]asdfghjkl;'zxcvbnm,./QWERTYUIOP{}ASDFGHJKL:"ZXCVBNM<>?@#$^&|`,
    possible: /[а-яєії]/i,
  },
  {
    name: "Greek",
    made: `;:ςερτυθιοπασδφγηξκλζχψωβνμΣΕΡΤΥΘΙΟΠΑΣΔΦΓΗΞΚΛΖΧΨΩΒΝΜ΄¨`,
    meant: `qQwertyuiopasdfghjklzxcvbnmWERTYUIOPASDFGHJKLZXCVBNM;:`,
    possible: /[α-ω]/i,
  },
  {
    name: "Arabic",
    made: "٠١٢٣٤٥٦٧٨٩۰۱۲۳۴۵۶۷۸۹",
    meant: "01234567890123456789",
    possible: /[٠-٩۰-۹]{4}/,
  },
  {
    name: "Canadian French",
    made: `¸^¨<>éÉ#|"/?`,
    meant: `][}\\|/?\`~@#^`,
    possible: /^(?:https?:é|¸[a-z]\d)/i,
  },
  {
    name: "Romanian",
    made: "ăĂîÎâÂșȘțȚ",
    meant: `[{]}\\|;:'"`,
  },
  {
    name: "Japanese",
    made: `^@[:]"&'()=~\`{+*}`,
    meant: `=[]'\\@^&*(_+{}:"|`,
  },
  {
    name: "Portuguese (Brazil)",
    made: "´`[{]}çÇ~^;:¨",
    meant: `[{]}\\|;:'"/?^`,
  },
  {
    name: "full width",
    made: String.fromCodePoint(...Array.from({ length: 94 }, (_, index) => 0xff01 + index)),
    meant: String.fromCodePoint(...Array.from({ length: 94 }, (_, index) => 0x21 + index)),
    possible: /[\uff01-\uff5e]{4}/,
  },
  ...(
    [
      ["Spanish", "`+*çÇñÑ'?¡¿", "[]}\\|;:-_=+"],
      ["Italian", "è+éç*ùò'?ì^", "[]{:}\\;-_=+"],
      ["Portuguese", "+*´`çÇ~'?«»", "[{]};:\\-_=+"],
      ["Swedish", "åÅ¨'*öÖ+?", "[{]\\|;:-_"],
      ["Danish", "åÅ¨'*æÆøØ+?", "[{]\\|;:'\"-_"],
      ["Norwegian", "åÅ¨'*øØæÆ+?", "[{]\\|;:'\"-_"],
      ["Swiss", "yzYZüè¨!öé$'?", "zyZY[{]};:\\-_"],
      ["Croatian", "yzYZšŠđĐčČćĆžŽ'?+*", `zyZY[{]};:'"\\|-_=+`],
      ["Spanish (Latin America)", "´¨+*ñÑ{[}]'?¿¡", `[{]};:'"\\|-_=+`],
    ] as const
  ).map(([name, others, ofUs]) => ({
    name,
    made: made + others,
    meant: meant + ofUs,
  })),
  {
    // Where it is not the same as the Swiss layout.
    name: "Swiss French",
    made: `${made}yzYZèü¨!éö$'?`,
    meant: `${meant}zyZY[{]};:\\-_`,
    possible: /^https?ö/i,
  },
  {
    name: "Turkish",
    made: `ğüĞÜ,;şŞiİıöçÖÇ.:*?-_'^+&/()=`,
    meant: `[]{}\\|;:'"i,.<>/?-_=+@#$^&*()`,
  },
];

const translations = layouts.map(({ name, made, meant, possible }) => ({
  name,
  possible,
  characters: new Map(Array.from(made, (one, index) => [one, meant.charAt(index)])),
}));

/** An EAN-8 is the shortest code with a check digit, and a 2D label of a carrier is some hundreds of characters. */
const [shortest, longest] = [8, 1_000];

/** The layout in which a text that is nothing by itself is right, the first if several make the same of it; null if there is none. */
export function explainByLayout(text: string, isRight: (meant: string) => boolean): ScanKeyboard | null {
  if (text.length < shortest || text.length > longest) {
    return null;
  }
  const mayBeOther = hasOther.test(text);
  const found = translations.flatMap(({ name, characters, possible }) => {
    const meant =
      (possible?.test(text) ?? mayBeOther)
        ? Array.from(text, (one) => characters.get(one) ?? one).join("")
        : text;
    return meant !== text && isRight(meant) ? [{ layout: name, text: meant }] : [];
  });
  const [first = null, ...others] = found;
  return others.every(({ text: meant }) => meant === first?.text) ? first : null;
}
