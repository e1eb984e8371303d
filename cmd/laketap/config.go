package main

import (
	"slices"
	"time"
)

// NOTE: Update etc/laketap.yml after changing a structure below; a test
// compares the two.

// Config is what laketap.yml, the environment and flags set. The yaml tags are
// the settings' names in all three: the environment's are made from them. What
// a setting is for stands in etc/laketap.yml, where people read it.
type Config struct {
	Catalogs []UpstreamConfig `yaml:"catalogs"`
	Catalog  CatalogConfig    `yaml:"catalog"`
	Storage  StorageConfig    `yaml:"storage"`
	Cache    CacheConfig      `yaml:"cache"`
	Admin    AdminConfig      `yaml:"admin"`
	TLS      TLSConfig        `yaml:"tls"`
	Audit    AuditConfig      `yaml:"audit"`
	Keys     []KeyConfig      `yaml:"keys"`
	Cluster  ClusterConfig    `yaml:"cluster"`
	Memory   MemoryConfig     `yaml:"memory"`
	Privacy  PrivacyConfig    `yaml:"privacy"`
	Mode     string           `yaml:"mode"`
	Data     string           `yaml:"data"`  // directory; what is made there survives restarts
	Drain    time.Duration    `yaml:"drain"` // how long requests may go on after the signal
	Log      LogConfig        `yaml:"log"`
}

// UpstreamConfig is a catalog behind us.
type UpstreamConfig struct {
	Name string `yaml:"name"`
	URL  string `yaml:"url"`
	CA   string `yaml:"ca"` // PEM file; "": the system's roots
}

// CatalogConfig is the catalog tap.
type CatalogConfig struct {
	Listen string `yaml:"listen"`
}

// StorageConfig is the storage tap and the stores behind it. Authority says whose
// word lets an engine read: upstream is the catalog's keys alone, catalog is its
// yes to loading a table, and then the files below Roots are read with our own.
type StorageConfig struct {
	Listen    string         `yaml:"listen"`
	Advertise string         `yaml:"advertise"` // "": the host of the catalog request
	Region    string         `yaml:"region"`    // that engines are told to sign for
	Domain    string         `yaml:"domain"`    // "": path style only
	Origins   []OriginConfig `yaml:"origins"`
	Authority string         `yaml:"authority"`
	Roots     []string       `yaml:"roots"`
	Write     bool           `yaml:"write"`
	Anonymous bool           `yaml:"anonymous"`
}

// OriginConfig is a store behind us. Its secret is in a file, never in the
// configuration, which people show each other.
type OriginConfig struct {
	Name        string   `yaml:"name"`
	Endpoint    string   `yaml:"endpoint"` // "": AWS by region
	Region      string   `yaml:"region"`   // "": us-east-1
	PathStyle   bool     `yaml:"path_style"`
	CA          string   `yaml:"ca"`
	Buckets     []string `yaml:"buckets"`       // empty: all that no other origin names
	AccessKeyID string   `yaml:"access_key_id"` // "": the AWS chain
	SecretFile  string   `yaml:"secret_file"`
}

// CacheConfig is the block cache. Sizes are as people write them, such as 10GiB.
type CacheConfig struct {
	Dir       string `yaml:"dir"`    // "": cache under data
	Disk      string `yaml:"disk"`   // bytes of files; 0: nothing is kept on disk
	Memory    string `yaml:"memory"` // bytes of extents
	Encrypted bool   `yaml:"encrypted"`
	Proof     string `yaml:"proof"`
}

// AdminConfig is the admin API.
type AdminConfig struct {
	Listen string   `yaml:"listen"`
	Hosts  []string `yaml:"hosts"` // names that it may be called by, besides localhost and IP addresses
}

// TLSConfig is the certificate of the ports: one for all that have it, since
// engines reach them by one name.
type TLSConfig struct {
	Cert  string   `yaml:"cert"` // PEM file, the server's own first; "": no TLS
	Key   string   `yaml:"key"`
	Ports []string `yaml:"ports"` // which of them have TLS
}

// on reports whether a port has TLS.
func (c *TLSConfig) on(port string) bool { return c.Cert != "" && slices.Contains(c.Ports, port) }

// AuditConfig is the record of who read or wrote which object.
type AuditConfig struct {
	File     string `yaml:"file"` // "": none
	Required bool   `yaml:"required"`
}

// KeyConfig is a static key of the storage tap, for clients that come without a
// catalog. It opens what it names and nothing else, for reading unless write is
// set.
type KeyConfig struct {
	ID         string   `yaml:"id"`
	SecretFile string   `yaml:"secret_file"`
	Principal  string   `yaml:"principal"`
	Prefixes   []string `yaml:"prefixes"`
	Scope      string   `yaml:"scope"` // "" or "all"
	Write      bool     `yaml:"write"`
}

// ClusterConfig is what nodes share.
type ClusterConfig struct {
	KeyFile string `yaml:"key_file"` // "": cluster.key under data, made on first start
}

// MemoryConfig is where what outlives a process is kept.
type MemoryConfig struct {
	URL     string        `yaml:"url"`     // of Postgres; "": memory.db under data
	History time.Duration `yaml:"history"` // of hours
	Idle    time.Duration `yaml:"idle"`    // of what nobody uses
	Files   int64         `yaml:"files"`
	Habits  int64         `yaml:"habits"`
}

// PrivacyConfig is what of the data itself is kept.
type PrivacyConfig struct {
	Literals string `yaml:"literals"`
}

// LogConfig is how the server tells what it does.
type LogConfig struct {
	Level  string `yaml:"level"`
	Format string `yaml:"format"`
}

// NewConfig returns the defaults. The admin API listens on loopback, since it
// has no password; the taps listen everywhere, since engines are elsewhere.
func NewConfig() *Config {
	return &Config{
		Catalog: CatalogConfig{Listen: ":8181"},
		Storage: StorageConfig{
			Listen:    ":9191",
			Region:    "us-east-1",
			Origins:   []OriginConfig{{Name: "aws"}},
			Authority: "upstream",
		},
		Cache:   CacheConfig{Disk: "10GiB", Memory: "512MiB", Proof: "prefix"},
		Admin:   AdminConfig{Listen: "127.0.0.1:9292"},
		TLS:     TLSConfig{Ports: []string{"catalog", "storage"}},
		Memory:  MemoryConfig{History: 90 * 24 * time.Hour, Idle: 400 * 24 * time.Hour, Files: 200_000, Habits: 500_000},
		Privacy: PrivacyConfig{Literals: "keep"},
		Mode:    "accelerate",
		Data:    "./laketap-data",
		Drain:   30 * time.Second,
		Log:     LogConfig{Level: "info", Format: "text"},
	}
}
