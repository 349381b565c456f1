export {
  getRecordingsFolder,
  type Recording,
  type RecordingFile,
  readRecordings,
  readSpec,
  type SpecName,
} from "./recordings.ts";
