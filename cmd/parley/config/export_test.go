package config

import "reflect"

// Keys lists every key of the tree, with its blocks before it: "http.listen".
func Keys() []string { return keysIn(reflect.TypeFor[Config](), "") }

func keysIn(t reflect.Type, before string) []string {
	var keys []string
	for i := range t.NumField() {
		f := t.Field(i)
		name := f.Tag.Get("yaml")
		if name == "" || name == "-" {
			continue
		}
		keys = append(keys, before+name)
		in := f.Type
		if in.Kind() == reflect.Slice {
			in = in.Elem()
		}
		if isBlock(in) {
			keys = append(keys, keysIn(in, before+name+".")...)
		}
	}
	return keys
}

// Distance is distance.
var Distance = distance
