package catalog_test

import (
	"crypto/rand"
	"io"
)

func rander() io.Reader { return rand.Reader }
