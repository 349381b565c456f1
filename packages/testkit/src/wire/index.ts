export {
  type Recording,
  type RecordingFile,
  readRecordings,
  readSpec,
  type SpecName,
  wireFolder,
} from "./recordings.ts";
