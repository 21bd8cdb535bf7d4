package session

// Older is what a summary stands for.
var Older = older
