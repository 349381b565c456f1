import type { InputBlock, TextBlock } from "../content.ts";
import { estimateTokens, MEDIA_TOKENS, sum } from "../tokens.ts";
import { type Keep, truncateText, WINDOW_SHARE } from "./truncate.ts";

type Content = readonly InputBlock[];

/** Maximum number of parts in a result. If there are more, texts are joined, because each part has an overhead. */
const MAX_PARTS = 64;
/** Maximum share of a result for media if its texts are long. */
const MEDIA_SHARE = 0.5;
/** Maximum number of tokens for the note about omitted media. */
const NOTE_TOKENS = 32;

/**
 * Shortens the texts of a result to `max` characters in total, longest first. Joins neighboring texts if there are more
 * than 64 parts, and joins all texts if there is not even one character left for each. Keeps media. Returns the same
 * array if nothing is too long.
 */
export function truncateContent(content: Content, max: number, keep: Keep = "auto"): Content {
  const parts = content.length > MAX_PARTS ? joinNeighbours(content) : content;
  const texts = parts.filter(isText);
  if (sum(texts, ({ text }) => text.length) <= max) return parts;
  if (texts.length > MAX_PARTS || texts.length > max) {
    return [cutBlock(texts, max, keep), ...parts.filter((block) => !isText(block))];
  }
  const each = share(texts, max);
  return parts.map((block) =>
    isText(block) && block.text.length > each ? cutBlock([block], each, keep) : block,
  );
}

/**
 * Shortens a result like `truncateContent`, and to at most 30 % of a window of `window` tokens. Chinese and Japanese
 * characters take about four times as many tokens as English ones, and each image, audio clip or file counts as 1,600.
 * The first media are kept as far as the texts leave room, but media always get up to half of the share. A note lists
 * the omitted ones.
 */
export function truncateResult(content: Content, max: number, window: number, keep: Keep = "auto"): Content {
  const most = Math.max(1, Math.floor(window * WINDOW_SHARE));
  const cut = fitTexts(content, max, most, keep);
  const media = cut.filter((block) => !isText(block)).length;
  if (media === 0) return cut;
  const tokens = getTokens(cut);
  const fit = getMediaRoom(tokens, most) >= media;
  const kept = fit ? media : Math.min(media, getMediaRoom(tokens + NOTE_TOKENS, most - NOTE_TOKENS));
  const rest = kept === media ? content : dropMedia(content, kept, media - kept);
  return fitTexts(rest, max, Math.max(1, most - kept * MEDIA_TOKENS), keep);
}

function getMediaRoom(textTokens: number, most: number): number {
  const room = Math.floor(Math.max(most - textTokens, most * MEDIA_SHARE) / MEDIA_TOKENS);
  return room === 0 && MEDIA_TOKENS < most ? 1 : room;
}

function dropMedia(content: Content, kept: number, missing: number): InputBlock[] {
  let left = kept;
  const rest = content.filter((block) => isText(block) || left-- > 0);
  const what =
    missing === 1 ? "One image or file was" : `${missing.toLocaleString("en-US")} images or files were`;
  rest.push({ type: "text", text: `[${what} left out: too much for one result. Ask for fewer.]` });
  return rest;
}

/** Shortens the texts to `max` characters and `most` tokens in total. */
function fitTexts(content: Content, max: number, most: number, keep: Keep): Content {
  let cut = truncateContent(content, max, keep);
  let chars = sum(cut.filter(isText), ({ text }) => text.length);
  // A character takes at most one token. The first estimate may be too high, because the kept text can be denser than
  // the rest.
  while (chars > most) {
    const tokens = getTokens(cut);
    if (tokens <= most) break;
    chars = Math.max(1, Math.floor(chars * Math.min(0.9, most / tokens)));
    cut = truncateContent(content, chars, keep);
  }
  return cut;
}

function isText(block: InputBlock): block is TextBlock {
  return block.type === "text";
}

function cutBlock(blocks: readonly TextBlock[], max: number, keep: Keep): TextBlock {
  const text = blocks.map((block) => block.text).join("\n");
  return { type: "text", text: truncateText(text, max, keep) };
}

function joinNeighbours(content: Content): Content {
  const joined: InputBlock[] = [];
  for (const block of content.filter((part) => !isText(part) || part.text !== "")) {
    const last = joined.at(-1);
    if (!isText(block) || last === undefined || !isText(last)) joined.push(block);
    else joined[joined.length - 1] = { type: "text", text: `${last.text}\n${block.text}` };
  }
  // A result must not be empty.
  return joined.length === 0 ? content.slice(0, 1) : joined;
}

function getTokens(content: Content): number {
  return sum(content.filter(isText), ({ text }) => estimateTokens(text));
}

/** Returns the maximum length of each text. Long texts get the share that short ones do not use. */
function share(texts: readonly TextBlock[], max: number): number {
  let left = max;
  for (const [at, { text }] of texts.toSorted((a, b) => a.text.length - b.text.length).entries()) {
    const each = Math.floor(left / (texts.length - at));
    if (text.length > each) return Math.max(1, each);
    left -= text.length;
  }
  return max;
}
