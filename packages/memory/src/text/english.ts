import { stem } from "porter2";
import { STOP_WORDS } from "./stop-words.ts";

/** Maps each irregular form to its word. Written as groups of `word form form`, separated by `|`. */
const IRREGULAR: ReadonlyMap<string, string> = new Map(
  `arise arose arisen|bear bore borne|beat beaten|become became|begin began begun|bend bent|bind bound|bite bit bitten|
  bleed bled|blow blew blown|break broke broken|breed bred|bring brought|build built|burn burnt|buy bought|catch caught|
  choose chose chosen|come came|creep crept|deal dealt|dig dug|draw drew drawn|dream dreamt|drink drank drunk|
  drive drove driven|eat ate eaten|fall fell fallen|feed fed|feel felt|fight fought|find found|flee fled|fly flew flown|
  forget forgot forgotten|forgive forgave forgiven|freeze froze frozen|give gave given|go went gone goes|
  grow grew grown|hang hung|hear heard|hide hid hidden|hold held|keep kept|kneel knelt|know knew known|lay laid|
  lead led|lean leant|learn learnt|leave left|lend lent|lie lain|light lit|lose lost|mean meant|meet met|pay paid|
  ride rode ridden|ring rang rung|rise rose risen|run ran|say said|see saw seen|seek sought|sell sold|send sent|
  sew sewn|shake shook shaken|shine shone|shoot shot|show shown|shrink shrank shrunk|sing sang sung|sink sank sunk|
  sit sat|sleep slept|slide slid|speak spoke spoken|spend spent|spin spun|stand stood|steal stole stolen|stick stuck|
  strike struck|swear swore sworn|sweep swept|swim swam swum|swing swung|take took taken|teach taught|tear tore torn|
  tell told|think thought|throw threw thrown|understand understood|wake woke woken|wear wore worn|weave wove woven|
  weep wept|win won|wind wound|write wrote written|
  child children|man men|woman women|person people|foot feet|tooth teeth|mouse mice|goose geese|wife wives|
  life lives|leaf leaves|knife knives|shelf shelves|half halves|
  colour color|favourite favorite|centre center|theatre theater|grey gray`
    .split("|")
    .flatMap((group) => {
      const [word = "", ...forms] = group.trim().split(/\s+/);
      return forms.map((form): [string, string] => [form, word]);
    }),
);

const MAX_CACHED = 50_000;
const cache = new Map<string, string>();

/**
 * Returns the term under which a word is indexed.
 *
 * @param word in lower case
 * @returns the word's stem, or `undefined` for a stop word
 */
export function englishTerm(word: string): string | undefined {
  let term = cache.get(word);
  if (term === undefined) {
    term = STOP_WORDS.has(word) ? "" : stem(IRREGULAR.get(word) ?? word);
    if (cache.size >= MAX_CACHED) cache.clear();
    cache.set(word, term);
  }
  return term === "" ? undefined : term;
}
