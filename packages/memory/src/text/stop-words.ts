import { stem } from "porter2";

/**
 * English words that occur in any sentence: the stop words of the Snowball project
 * (https://snowballstem.org/algorithms/english/stop.txt), and the first parts of contractions such as "don't".
 */
export const STOP_WORDS = wordsOf(
  `i me my myself we our ours ourselves you your yours yourself yourselves he him his himself she her hers herself it
  its itself they them their theirs themselves what which who whom this that these those am is are was were be been
  being have has had having do does did doing would should could ought a an the and but if or because as until while of
  at by for with about against between into through during before after above below to from up down in out on off over
  under again further then once here there when where why how all any both each few more most other some such no nor
  not only own same so than too very can cannot will just now
  ain aren couldn didn doesn don hadn hasn haven isn mightn mustn needn shan shouldn wasn weren won wouldn`,
);

/**
 * Characters that occur in any Chinese or Japanese sentence: particles, pronouns and question words. They are not
 * indexed individually, and a pair that contains one does not count as evidence for a match.
 */
const FUNCTION_CHARACTERS = new Set(
  "的了是在和与及或也都就而之其这那有为以于被把让给个们吗呢吧呀嘛啊着过很我你您他她它什么哪谁怎几のはがをにでともへや",
);

export function isFunctionCharacter(character: string): boolean {
  return FUNCTION_CHARACTERS.has(character);
}

/**
 * Words of greeting, thanks, apology and agreement. Searches find them, but a message that has no other words in common
 * with an earlier one recalls nothing.
 */
const COURTESIES = new Set([
  ...[
    ...wordsOf(
      `hello hi hey dear good morning afternoon evening night bye goodbye welcome thank thanks please sorry excuse
      pardon ok okay yes yeah yep sure fine great nice cool perfect wonderful lovely awesome haha hm hmm oh ah wow well
      really much many lot today help tell remind`,
    ),
  ].map((word) => stem(word)),
  ...wordsOf(
    `你好 早上 上好 下午 午好 晚上 晚安 谢谢 感谢 多谢 请问 麻烦 不好 好意 意思 抱歉 对不 不起 打扰 没事 没关 关系
    没问 问题 不客 客气 好的 好啊 可以 辛苦 再见 哈哈 嘿嘿 嗯嗯 真棒 太好 今天 帮我 告诉 知道 一下 多少 真 太 好 早 行 再 又
    还 都 也 不 没`,
  ),
]);

/** Returns true if a term of {@link queryTerms} describes the subject of a message. */
export function isContent(term: string): boolean {
  return !COURTESIES.has(term) && ![...term].some(isFunctionCharacter);
}

function wordsOf(list: string): ReadonlySet<string> {
  return new Set(list.trim().split(/\s+/));
}
