export {
  type FakeSpeechService,
  type FakeSpeechServiceOptions,
  startFakeSpeechService,
} from "./fake-speech-service.ts";
export { createOggOpus, type OggOpusOptions } from "./ogg-opus.ts";
