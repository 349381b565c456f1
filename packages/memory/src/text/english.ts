import { stem } from "porter2";

/** Words that stand in any sentence: they find everything, which is nothing. */
const STOP_WORDS = new Set(
  `a about above after again all also am an and any are aren as at be because been before being below between both but
  by can could couldn did didn do does doesn doing don done down during each either ever every few for from further
  get gets getting got had hadn has hasn have haven having he her here hers herself him himself his how however i if in
  into is isn it its itself just let like ll lot lots make me might mine more most much must mustn my myself no nor not
  now of off oh ok okay on once one only or other our ours ourselves out over own quite re really s same shall shan she
  should shouldn so some something such t than that the their theirs them themselves then there these they thing things
  this those through to too under until up upon us ve very was wasn we well were weren what whatever when where which
  while who whom whose why will with won would wouldn yeah yes yet you your yours yourself yourselves`.split(
    /\s+/,
  ),
);

/** Each form with its word, of groups `word form form|…`. */
function variants(groups: string): ReadonlyMap<string, string> {
  return new Map(
    groups.split("|").flatMap((forms) => {
      const [word = "", ...others] = forms.trim().split(/\s+/);
      return others.map((form): [string, string] => [form, word]);
    }),
  );
}

/** Forms that no rule leads back to their word. */
const IRREGULAR = variants(
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
  colour color|favourite favorite|centre center|theatre theater|grey gray`,
);

/** Words that people use for each other, so that who asks need not know which of them was said. */
const SAME = stems(
  variants(
    `child kid|mother mom mum mama mommy mummy|father dad daddy papa|grandmother grandma granny|grandfather grandpa|
  television tv|photo photograph pic picture|bike bicycle cycle|phone telephone|fridge refrigerator|movie film|
  doctor dr physician|holiday vacation|buy purchase|begin start commence|big large huge|small little tiny|
  quick fast|shop store|flat apartment|car automobile|sick ill|happy glad|hard difficult|job occupation|
  wedding marriage|marry wed|street road|town city|cost price|assist help|receive obtain|fix repair mend|
  choose pick|reply respond|travel trip journey|meal dinner lunch|exhibition exhibit|prize award|hobby pastime`,
  ),
);

function stems(words: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  return new Map([...words].map(([form, word]) => [stem(form), stem(word)]));
}

/** A vocabulary has so many forms; beyond that, somebody pastes noise. */
const REMEMBERED = 50_000;
const remembered = new Map<string, string>();

/** The term that a word in small letters is found by: nothing for a stop word, its stem for any other. */
export function englishTerm(word: string): string | undefined {
  let term = remembered.get(word);
  if (term === undefined) {
    const bare = stem(IRREGULAR.get(word) ?? word);
    term = STOP_WORDS.has(word) ? "" : (SAME.get(bare) ?? bare);
    if (remembered.size >= REMEMBERED) remembered.clear();
    remembered.set(word, term);
  }
  return term === "" ? undefined : term;
}
