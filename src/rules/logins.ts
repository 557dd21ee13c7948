/** How long the name and the password of a login may be, in UTF-16 code units, as a browser counts them too. */
export const longestNameLength = 100;
export const shortestPasswordLength = 12;
export const longestPasswordLength = 200;
