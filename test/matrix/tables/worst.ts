/** Rows that a process of its own meets, which any unhandled error would end. */
export const worstRows: readonly string[] = [
  "reset after the machine has acted",
  "closed without an answer, after the machine has acted",
  "the head comes one byte at a time",
  "the body comes one byte at a time",
  "provisional answers without end",
  "silence after the machine has acted",
  "cut before the first byte",
  "cut before the last byte",
  "cut in the middle of chunks",
  "something that does not speak HTTP",
  "bytes that are no text at all",
  "invalid JSON",
  "bytes that are no UTF-8",
  "10 GB of JSON in chunks",
  "a list of a million items",
  "names that objects have by birth",
  "no list of objects",
  "status 500 with a web page of 2 MB, after the machine has acted",
  "status 999",
  "a redirect to the same address, again and again",
  "with neither length nor chunks, cut",
  "cut ten times, each time with new bytes",
  "cut, then a range that nobody can read",
  "a part longer than it says",
  "a chunk whose length is none",
  "a head of 1 MB",
  "silence in the middle",
];

/** And what a disk may do, by the rows of its own table. */
export const worstDisks: readonly string[] = [
  "the folder is not there, as a share that is not mounted",
  "a file stands where the folder should be",
  "a link in the folder that leads out",
  "the name is taken by other content, error",
  "a name with NUL",
];
