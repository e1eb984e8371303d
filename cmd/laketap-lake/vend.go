package main

// vending says which keys the catalog hands out with a table.
type vending string

// The three ways to vend.
const (
	vendKeys     vending = "keys"     // of the owner: read and write
	vendReadonly vending = "readonly" // of the reader
	vendNone     vending = "none"     // nothing: clients bring their own
)

// known reports whether v is one of the three.
func (v vending) known() bool { return v == vendKeys || v == vendReadonly || v == vendNone }

// config is what is handed out: the properties engines take their S3 client
// from. The endpoint ends in a slash because ClickHouse needs it and the others
// do not mind; the region has two names because engines disagree. There is no
// session token: the store knows permanent keys only and answers 400 to one.
func (v vending) config(endpoint string, k keys) map[string]string {
	pair := k.Owner
	switch v {
	case vendNone:
		return nil
	case vendReadonly:
		pair = k.Reader
	}
	return map[string]string{
		"s3.endpoint":          endpoint + "/",
		"s3.path-style-access": "true",
		"s3.region":            region,
		"client.region":        region,
		"s3.access-key-id":     pair.ID,
		"s3.secret-access-key": pair.Secret,
	}
}
