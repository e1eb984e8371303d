package laketap_test

import (
	"testing"

	"github.com/laketap/laketap"
)

func TestSplitS3(t *testing.T) {
	tests := []struct {
		uri, bucket, key string
		ok               bool
	}{
		{"s3://lake/wh/t", "lake", "wh/t", true},
		{"s3a://lake/wh/t/", "lake", "wh/t/", true},
		{"s3n://lake/wh", "lake", "wh", true},
		{"S3://lake/wh", "lake", "wh", true},
		{"s3://lake", "lake", "", true},
		{"s3://lake/a%2Fb c", "lake", "a%2Fb c", true}, // Iceberg paths are not escaped
		{"s3:///wh", "", "wh", false},
		{"gs://lake/wh", "", "", false},
		{"abfss://c@account/wh", "", "", false},
		{"file:///wh", "", "", false},
		{"/wh/t", "", "", false},
		{"", "", "", false},
	}
	for _, tt := range tests {
		bucket, key, ok := laketap.SplitS3(tt.uri)
		if ok != tt.ok || ok && (bucket != tt.bucket || key != tt.key) {
			t.Errorf("SplitS3(%q) = %q, %q, %v, want %q, %q, %v", tt.uri, bucket, key, ok, tt.bucket, tt.key, tt.ok)
		}
	}
}
