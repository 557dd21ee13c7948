import type { ScanKeyboard } from "../model/shapes.ts";

/**
 * What a scanner that types the keys of a US keyboard becomes on a computer with another layout: the characters that it makes, and those
 * that were meant. From Microsoft's layouts (learn.microsoft.com, Windows keyboard layouts: KBDUS, KBDFR, KBDGR).
 */
const layouts = [
  {
    name: "AZERTY",
    made: `&é"'(-è_çà)=1234567890°aqzwAQZW,?;.:/!§mMù%^$¨£*µ`,
    meant: `1234567890-=!@#$%^&*()_qawzQAWZmM,<.>/?;:'"[]{}\\|`,
    // Its digits are shifted, so there are none.
    isPossible: (text: string) => /^\D*$/.test(text) && /[&é"'(\-è_çà]{4}/.test(text),
  },
  {
    name: "QWERTZ",
    made: `yzYZß´ü+öä#-"§&/()=?\`Ü*ÖÄ';:_°^`,
    meant: `zyZY-=[];'\\/@#^&*()_+{}:"|<>?~\``,
    isPossible: (text: string) => /[yzß´ü+öä=]/i.test(text),
  },
] as const;

const translations = layouts.map(({ name, made, meant, isPossible }) => ({
  name,
  isPossible,
  characters: new Map(Array.from(made, (one, index) => [one, meant.charAt(index)])),
}));

const longest = 200;

/** The one layout in which a text that is nothing by itself is right; null if there is none, or more than one. */
export function explainByLayout(text: string, isRight: (meant: string) => boolean): ScanKeyboard | null {
  if (text.length > longest) {
    return null;
  }
  const found = translations.flatMap(({ name, characters, isPossible }) => {
    const meant = isPossible(text) ? Array.from(text, (one) => characters.get(one) ?? one).join("") : text;
    return meant !== text && isRight(meant) ? [{ layout: name, text: meant }] : [];
  });
  const [only = null, ...others] = found;
  return others.length === 0 ? only : null;
}
