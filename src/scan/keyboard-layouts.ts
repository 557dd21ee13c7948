import type { ScanKeyboard } from "../model/shapes.ts";

/**
 * What a scanner that types the keys of a US keyboard becomes on a computer with another layout: the characters that it makes, and those
 * that were meant. From Microsoft's layouts (learn.microsoft.com, Windows keyboard layouts: KBDUS, KBDFR, KBDBE, KBDGR, KBDCZ, KBDSP,
 * KBDIT, KBDPO, KBDTUQ, KBDSW, KBDDA, KBDNO, KBDSG, KBDSL, KBDHU, KBDRU, KBD106), and the full width in which East Asian ones type.
 * Some codes look alike in several of them: the first is named.
 */
const [made, meant] = [`-_;:=()/&"`, `/?<>)(*&^@`] as const;
/** A link, brackets, an AIM identifier or the beginning of a 2D label, with another character in front or in it. */
const hasOther = (text: string): boolean => /^(?:https?[^\w:]|\)\d|[^\w\]][a-z]\d|.=\W)/i.test(text);
const layouts = [
  {
    name: "AZERTY",
    made: `&é"'(-è_çà)=1234567890°aqzwAQZW,?;.:/!§mMù%^$¨£*µ`,
    meant: `1234567890-=!@#$%^&*()_qawzQAWZmM,<.>/?;:'"[]{}\\|`,
    // Its digits are shifted.
    isPossible: (text: string) => /[&é"'(\-è_çà]{4}/.test(text),
  },
  {
    name: "AZERTY (Belgium)",
    made: `&é"'(§è!çà)-1234567890°_aqzwAQZW,?;.:/=+mMù%^$¨*µ£`,
    meant: `1234567890-=!@#$%^&*()_+qawzQAWZmM,<.>/?;:'"[]{}\\|`,
    isPossible: (text: string) => /[&é"'(§è!çà]{4}/.test(text),
  },
  {
    name: "QWERTZ",
    made: `yzYZß´ü+öä#-"§&/()=?\`Ü*ÖÄ';:_°^`,
    meant: `zyZY-=[];'\\/@#^&*()_+{}:"|<>?~\``,
    isPossible: (text: string) => /[yzß´ü+öä=]/i.test(text),
  },
  {
    name: "QWERTZ (Czechia)",
    made: `+ěščřžýáíé=´1234567890%ˇyzYZú)ů§¨-?:_/("!'`,
    meant: `1234567890-=!@#$%^&*()_+zyZY[];'\\/<>?{}:"|`,
    isPossible: (text: string) => /[+ěščřžýáíé]{4}/.test(text),
  },
  {
    name: "QWERTZ (Slovakia)",
    made: `+ľščťžýáíé=´1234567890%ˇyzYZúäň/()ô§"!-?:_`,
    meant: `1234567890-=!@#$%^&*()_+zyZY[]\\{}|;':"/<>?`,
    isPossible: (text: string) => /[+ľščťžýáíé]{4}/.test(text),
  },
  {
    name: "QWERTZ (Hungary)",
    made: `öüó'"+!%/=()ÖÜÓyzYZőúűŐÚŰéáÉÁ-?:_`,
    meant: `0-=!@#$%^&*()_+zyZY[]\\{}|;':"/<>?`,
    isPossible: (text: string) => /[öőúé]/i.test(text),
  },
  {
    name: "Russian",
    made: `йцукенгшщзхъфывапролджэячсмитьбю.ЙЦУКЕНГШЩЗХЪФЫВАПРОЛДЖЭЯЧСМИТЬБЮ,"№;:?/`,
    meant: `qwertyuiop[]asdfghjkl;'zxcvbnm,./QWERTYUIOP{}ASDFGHJKL:"ZXCVBNM<>?@#$^&|`,
    isPossible: (text: string) => /[а-я]/i.test(text),
  },
  {
    name: "Japanese",
    made: `^@[:]"&'()=~\`{+*}`,
    meant: `=[]'\\@^&*(_+{}:"|`,
    isPossible: hasOther,
  },
  {
    name: "full width",
    made: String.fromCodePoint(...Array.from({ length: 94 }, (_, index) => 0xff01 + index)),
    meant: String.fromCodePoint(...Array.from({ length: 94 }, (_, index) => 0x21 + index)),
    isPossible: (text: string) => /[\uff01-\uff5e]{4}/.test(text),
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
    ] as const
  ).map(([name, others, ofUs]) => ({
    name,
    made: made + others,
    meant: meant + ofUs,
    isPossible: hasOther,
  })),
  {
    name: "Turkish",
    made: `ğüĞÜ,;şŞiİıöçÖÇ.:*?-_'^+&/()=`,
    meant: `[]{}\\|;:'"i,.<>/?-_=+@#$^&*()`,
    isPossible: hasOther,
  },
];

const translations = layouts.map(({ name, made, meant, isPossible }) => ({
  name,
  isPossible,
  characters: new Map(Array.from(made, (one, index) => [one, meant.charAt(index)])),
}));

/** An EAN-8 is the shortest code with a check digit, and a 2D label of a carrier is some hundreds of characters. */
const [shortest, longest] = [8, 1_000];

/** The layout in which a text that is nothing by itself is right, the first if several make the same of it; null if there is none. */
export function explainByLayout(text: string, isRight: (meant: string) => boolean): ScanKeyboard | null {
  if (text.length < shortest || text.length > longest) {
    return null;
  }
  const found = translations.flatMap(({ name, characters, isPossible }) => {
    const meant = isPossible(text) ? Array.from(text, (one) => characters.get(one) ?? one).join("") : text;
    return meant !== text && isRight(meant) ? [{ layout: name, text: meant }] : [];
  });
  const [first = null, ...others] = found;
  return others.every(({ text: meant }) => meant === first?.text) ? first : null;
}
