package main

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// envPrefix begins every environment variable that is ours.
const envPrefix = "LAKETAP_"

// Variables that are read by flags rather than as settings.
var flagVariables = []string{"LAKETAP_ADMIN", "LAKETAP_CONFIG", "LAKETAP_ENGINES", "LAKETAP_TOKEN"}

// readEnv sets what the environment says: LAKETAP_STORAGE_ADVERTISE is
// storage.advertise. Lists are written in YAML, as in
// LAKETAP_STORAGE_ROOTS='[s3://lake/warehouse]'.
func (c *Config) readEnv(environ []string) error {
	settings := map[string]string{} // variable → dotted name
	for _, name := range leavesOf(reflect.ValueOf(c).Elem(), "") {
		settings[variable(name)] = name
	}
	var problems []error
	for _, line := range slices.SortedStableFunc(slices.Values(environ), byName) {
		name, value, _ := strings.Cut(line, "=")
		if !strings.HasPrefix(name, envPrefix) || slices.Contains(flagVariables, name) || ofKubernetes(name) {
			continue
		}
		setting, ok := settings[name]
		// An unknown name is refused, as in the file: LAKETAP_STORAGE_WRTE=false
		// would otherwise be a lake that can be written to.
		if !ok {
			known := slices.Clone(flagVariables)
			for v := range settings {
				known = append(known, v)
			}
			slices.Sort(known)
			problems = append(problems, fmt.Errorf("environment: %s is not a setting%s", name, suggest(name, known)))
			continue
		}
		if err := c.setEnv(name, setting, value); err != nil {
			problems = append(problems, err)
		}
	}
	return errors.Join(problems...)
}

// byName orders variables, so that problems come in one order. Of two with one
// name the later wins, as in a shell.
func byName(a, b string) int {
	a, _, _ = strings.Cut(a, "=")
	b, _, _ = strings.Cut(b, "=")
	return strings.Compare(a, b)
}

// ofKubernetes reports whether a variable is one of those that Kubernetes sets
// in every pod of a namespace that has a service called "laketap".
func ofKubernetes(name string) bool {
	// LAKETAP_PORT=tcp://…, LAKETAP_SERVICE_HOST, and so on, for a service of
	// this name; refusing them would keep the pod from starting.
	rest := strings.TrimPrefix(name, envPrefix)
	return rest == "PORT" || strings.HasPrefix(rest, "PORT_") || strings.HasPrefix(rest, "SERVICE_HOST") || strings.HasPrefix(rest, "SERVICE_PORT")
}

// setEnv sets one setting. Text is taken as it stands, everything else as YAML.
func (c *Config) setEnv(name, setting, value string) error {
	v := reflect.ValueOf(c).Elem()
	for part := range strings.SplitSeq(setting, ".") {
		v, _ = fieldOf(v, part) // leavesOf found it there
	}
	if v.Kind() == reflect.String {
		v.SetString(value)
		return nil
	}
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(value), &doc); err != nil || len(doc.Content) == 0 {
		return fmt.Errorf("environment: %s: %s: wants %s, in YAML", name, setting, wanted(v))
	}
	r := reader{file: "environment: " + name}
	clearLines(doc.Content[0])
	r.read(doc.Content[0], v, setting)
	return errors.Join(r.problems...)
}

// clearLines forgets where nodes stand: a variable has no lines to name.
func clearLines(n *yaml.Node) {
	n.Line = 0
	for _, child := range n.Content {
		clearLines(child)
	}
}

// leavesOf is settingsOf for the environment: there a list is written as a
// whole, so the settings of its entries have no variables. It lists the dotted names of all settings that are no sections; a list
// is one setting.
func leavesOf(v reflect.Value, path string) []string {
	var all []string
	for i := range v.NumField() {
		at := join(path, v.Type().Field(i).Tag.Get("yaml"))
		if v.Field(i).Kind() == reflect.Struct {
			all = append(all, leavesOf(v.Field(i), at)...)
		} else {
			all = append(all, at)
		}
	}
	return all
}

// variable returns the name of a setting's environment variable.
func variable(setting string) string {
	return envPrefix + strings.ToUpper(strings.ReplaceAll(setting, ".", "_"))
}
