import assert from "node:assert/strict";
import type * as library from "../../src/index.ts";
import { definitions } from "../../tools/write-docs/messages.ts";
import { describes } from "../../tools/write-docs/same-type.ts";

/** The exported types by the names that the documentation has for them; one that differs does not compile. */
const documented = {
  MeasureMessage: describes<library.MeasureMessage>()(definitions.MeasureMessage),
  RemoteMeasureMessage: describes<library.RemoteMeasureMessage>()(definitions.RemoteMeasureMessage),
  VideoMessage: describes<library.VideoMessage>()(definitions.VideoMessage),
  VideoCommand: describes<library.VideoCommand>()(definitions.VideoCommand),
  FileMessage: describes<library.FileMessage>()(definitions.FileMessage),
  MediaListMessage: describes<library.MediaListMessage>()(definitions.MediaListMessage),
  MediaItemMessage: describes<library.MediaItemMessage>()(definitions.MediaItemMessage),
  MessageParts: describes<library.MessageParts>()(definitions.MessageParts),
  ArchiveMessage: describes<library.ArchiveMessage>()(definitions.ArchiveMessage),
  ArchivedPackage: describes<library.ArchivedPackage>()(definitions.ArchivedPackage),
  TransactionMessage: describes<library.TransactionMessage>()(definitions.TransactionMessage),
  DeviceListMessage: describes<library.DeviceListMessage>()(definitions.DeviceListMessage),
  DeviceMessage: describes<library.DeviceMessage>()(definitions.DeviceMessage),
  MeasureResult: describes<library.MeasureResult>()(definitions.MeasureResult),
  MeasuredObject: describes<library.MeasuredObject>()(definitions.MeasuredObject),
  MediaItem: describes<library.MediaItem>()(definitions.MediaItem),
  TransactionRecord: describes<library.TransactionRecord>()(definitions.TransactionRecord),
  DeviceListItem: describes<library.FleetDevice>()(definitions.DeviceListItem),
  Terminal: describes<library.Terminal>()(definitions.Terminal),
  SavedFile: describes<library.SavedFile>()(definitions.SavedFile),
  ErrorObject: describes<library.ErrorMessage["error"]>()(definitions.ErrorObject),
  ErrorDetails: describes<library.ErrorDetails>()(definitions.ErrorDetails),
};

describe("the types of messages", () => {
  it("are exported for every message and payload that is documented", () => {
    // A Buffer is no JSON: its place is not described there.
    const names = Object.keys(definitions).filter((name) => name !== "BufferMessage");
    assert.deepEqual(Object.keys(documented).toSorted(), names.toSorted());
  });
});
