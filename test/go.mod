// The end-to-end tests: the product's programs beside real engines. A module
// of its own, so that what only tests need stays out of the product's go.mod.
module github.com/laketap/laketap/test

go 1.26.0

require (
	github.com/aws/aws-sdk-go-v2 v1.48.0
	github.com/google/go-cmp v0.7.0
)

require github.com/aws/smithy-go v1.28.9 // indirect
