/** Settings with which a function node writes files at once, without a module that is loaded while its messages wait. */
module.exports = { functionGlobalContext: { fs: require("node:fs") } };
