package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// maxConfig bounds what is read of a configuration file.
const maxConfig = 1 << 20

// readFile sets what a configuration file says. Errors name the file, the
// line, the setting and the fix.
func (c *Config) readFile(name string) error {
	// Opened and read with a bound: the name may be that of a device.
	f, err := os.Open(name)
	if err != nil {
		return fmt.Errorf("read configuration: %w", err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxConfig+1))
	if err != nil {
		return fmt.Errorf("read configuration: %w", err)
	}
	if len(text) > maxConfig {
		return fmt.Errorf("%s: is larger than %d bytes", name, maxConfig)
	}
	return c.parse(name, text)
}

// parse sets what a YAML text says.
func (c *Config) parse(name string, text []byte) error {
	dec := yaml.NewDecoder(strings.NewReader(string(text)))
	var doc, second yaml.Node
	if err := dec.Decode(&doc); errors.Is(err, io.EOF) {
		return nil // empty, or comments only
	} else if err != nil {
		return fmt.Errorf("%s: %s", name, strings.TrimPrefix(err.Error(), "yaml: "))
	}
	if err := dec.Decode(&second); !errors.Is(err, io.EOF) {
		return fmt.Errorf("%s: holds more than one document; keep one", name)
	}
	r := reader{file: name}
	r.read(doc.Content[0], reflect.ValueOf(c).Elem(), "")
	return errors.Join(r.problems...)
}

// A reader walks a YAML document and a structure side by side. The library's
// own strictness names Go types; this names settings.
type reader struct {
	file     string
	problems []error
}

// add notes a problem. A line of zero is a text that came from no file.
func (r *reader) add(n *yaml.Node, format string, args ...any) {
	where := r.file
	if n.Line > 0 {
		where = fmt.Sprintf("%s:%d", r.file, n.Line)
	}
	r.problems = append(r.problems, fmt.Errorf("%s: %s", where, fmt.Sprintf(format, args...)))
}

// read sets v, the setting at path, to what a node says.
func (r *reader) read(n *yaml.Node, v reflect.Value, path string) {
	// Aliases cannot go round in circles here: with each step into the document
	// goes one into the structure, which has an end.
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	switch {
	case n.Tag == "!!null":
		// "storage:" with everything below it commented out: keep the defaults.
	case v.Kind() == reflect.Struct:
		r.readSection(n, v, path)
	case v.Kind() == reflect.Slice:
		r.readList(n, v, path)
	case n.Kind != yaml.ScalarNode || n.Decode(v.Addr().Interface()) != nil:
		r.add(n, "%s: wants %s", path, wanted(v))
	}
}

// readSection reads the settings of a section. An unknown one is an error, since
// a misspelt setting that is ignored is worse than a server that does not start.
func (r *reader) readSection(n *yaml.Node, v reflect.Value, path string) {
	if n.Kind != yaml.MappingNode {
		r.add(n, "%s: wants %s", orFile(path), wanted(v))
		return
	}
	seen := map[string]bool{}
	// Keys and values take turns in a mapping's content.
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		at := join(path, key.Value)
		field, ok := fieldOf(v, key.Value)
		switch {
		case !ok:
			r.add(key, "%s is not a setting%s", at, suggest(at, allSettings()))
		case seen[key.Value]:
			r.add(key, "%s: is set twice; keep one", at)
		default:
			r.read(value, field, at)
		}
		seen[key.Value] = true
	}
}

// readList reads a list, which replaces the one before: merging would leave no
// way to take a default away.
func (r *reader) readList(n *yaml.Node, v reflect.Value, path string) {
	if n.Kind != yaml.SequenceNode {
		r.add(n, "%s: wants a list", path)
		return
	}
	list := reflect.MakeSlice(v.Type(), len(n.Content), len(n.Content))
	for i, item := range n.Content {
		r.read(item, list.Index(i), path)
	}
	v.Set(list)
}

// wanted says what a setting is, for people.
func wanted(v reflect.Value) string {
	switch {
	case v.Type() == reflect.TypeFor[time.Duration]():
		return "a duration such as 30s"
	case v.Kind() == reflect.Bool:
		return "true or false"
	case v.Kind() == reflect.Struct:
		return "a section of settings"
	case v.Kind() == reflect.Slice:
		return "a list"
	}
	return "a text"
}

// orFile names a setting, or the file as a whole.
func orFile(path string) string {
	if path == "" {
		return "the file"
	}
	return path
}

// join puts a setting's name behind that of its section.
func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// fieldOf returns the field of a section that a key names.
func fieldOf(v reflect.Value, key string) (reflect.Value, bool) {
	for i := range v.NumField() {
		if v.Type().Field(i).Tag.Get("yaml") == key {
			return v.Field(i), true
		}
	}
	return reflect.Value{}, false
}

// allSettings lists the dotted names of all settings, those in lists included.
func allSettings() []string { return settingsOf(reflect.ValueOf(NewConfig()).Elem(), "") }

// settingsOf lists those of a section.
func settingsOf(v reflect.Value, path string) []string {
	var all []string
	for i := range v.NumField() {
		at := join(path, v.Type().Field(i).Tag.Get("yaml"))
		field := v.Field(i)
		all = append(all, at)
		switch {
		case field.Kind() == reflect.Struct:
			all = append(all, settingsOf(field, at)...)
		case field.Kind() == reflect.Slice && field.Type().Elem().Kind() == reflect.Struct:
			all = append(all, settingsOf(reflect.New(field.Type().Elem()).Elem(), at)...)
		}
	}
	return all
}
