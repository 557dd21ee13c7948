/** Rows that a process of its own meets, which any unhandled error would end. */
export const strictRows: readonly string[] = [
  "reset after the device has acted",
  "closed without a response, after the device has acted",
  "the headers arrive one byte at a time",
  "the body arrives one byte at a time",
  "interim responses without end",
  "no response after the device has acted",
  "cut before the first byte",
  "cut before the last byte",
  "cut in the middle of chunks",
  "a server that does not use HTTP",
  "binary data",
  "invalid JSON",
  "bytes that are not UTF-8",
  "10 GB of JSON in chunks",
  "a list of a million items",
  "names of built-in object properties",
  "no list of objects",
  "status 500 with a web page of 2 MB, after the device has acted",
  "status 999",
  "a redirect to the same address, again and again",
  "with neither length nor chunks, cut",
  "cut ten times, each time with new bytes",
  "cut, then a range that nobody can read",
  "a part longer than it says",
  "a chunk with an invalid length",
  "headers of 1 MB",
  "nothing after half of the body",
];

/** The same for rows of the table of disks. */
export const strictDiskRows: readonly string[] = [
  "the folder is missing, such as a share that is not mounted",
  "a file has the name of the folder",
  "a link in the folder that leads out",
  "the name is taken by other content, error",
  "a name with NUL",
];
