/** Feishu's names of the reactions that have a Unicode emoji. Source: the open platform's list of emoji types. */
const emoji: Readonly<Record<string, string>> = {
  THUMBSUP: "👍",
  ThumbsDown: "👎",
  HEART: "❤️",
  OK: "👌",
  DONE: "✅",
  CheckMark: "✔️",
  CrossMark: "❌",
  APPLAUSE: "👏",
  CLAP: "👏",
  FISTBUMP: "👊",
  MUSCLE: "💪",
  PRAISE: "🙌",
  JIAYI: "➕",
  SMILE: "🙂",
  LAUGH: "😄",
  LOL: "😂",
  JOYFUL: "😁",
  LOVE: "😍",
  WOW: "😮",
  CRY: "😭",
  SOB: "😭",
  ANGRY: "😠",
  THINKING: "🤔",
  PARTY: "🎉",
  Fire: "🔥",
  EYES: "👀",
  ROSE: "🌹",
  BEER: "🍺",
  CAKE: "🎂",
  GIFT: "🎁",
  BOMB: "💣",
  TROPHY: "🏆",
  Hundred: "💯",
};

const types = new Map(Object.entries(emoji).map(([type, symbol]) => [plain(symbol), type]));

function plain(symbol: string): string {
  return symbol.replace(/\ufe0f/g, "");
}

/** The emoji of one of Feishu's types; the type itself where there is none. */
export function emojiOf(type: string): string {
  return emoji[type] ?? type;
}

/** Feishu's type of an emoji; what looks like a type already stays. Undefined for what Feishu has not. */
export function emojiType(symbol: string): string | undefined {
  return types.get(plain(symbol)) ?? (/^[A-Za-z0-9_]+$/.test(symbol) ? symbol : undefined);
}
