// Package config reads config.yaml, the one file that configures parley.
//
// The file is read strictly. A key that parley does not know, a value of the
// wrong type or outside what is allowed, and a key given twice are errors, and
// each names file, line, column, the whole key and what to write instead; up
// to ten are told at once:
//
//	config.yaml:12:3: adapters.telegramm: unknown key; did you mean telegram?
//	config.yaml:14:14: models[0].context: found the text "many", want a whole number
//
// # References
//
// ${NAME} and ${NAME:-x} are replaced by the environment in values that have
// been parsed already, never in keys and never in what a variable holds, so no
// secret can break or rewrite the file. $${ stands for a plain ${. A value that
// comes out empty that way counts as not given.
//
// # Secrets
//
// A [Secret] prints as [redacted] wherever it is printed. Every secret key has
// a twin that ends in _file and names a file to read it from.
//
// # Defaults
//
// What a file leaves out keeps the value of [Default], which is what the
// shipped config.yaml says; a test holds the two together. A list replaces the
// default list as a whole, a block is laid over the default block key by key.
//
// Nothing here connects to anything or writes anything.
package config
