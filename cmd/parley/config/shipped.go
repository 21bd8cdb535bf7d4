package config

import _ "embed"

//go:generate cp ../../../config.yaml shipped.yaml

// Shipped is the config.yaml that comes with parley: the manual of every key,
// and what a parley without a file behaves like. `parley init` writes it where
// there is no source tree. The file at the root is the one to edit; go generate
// copies it here, since an embedded file must lie below its package.
//
//go:embed shipped.yaml
var Shipped string
