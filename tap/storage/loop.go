package storage

import (
	"context"
	"fmt"
	"net"

	"github.com/laketap/laketap/tap"
)

// refuseLoop reports an origin whose endpoint is the address that the tap
// itself listens on: every request would come back for ever.
func refuseLoop(origins []tap.Origin, addr net.Addr) error {
	for _, o := range origins {
		if tap.LeadsTo(context.Background(), o.Endpoint, addr) {
			return fmt.Errorf("storage.origins: the endpoint %s of %q is the address of the storage tap itself; set it to the address of the store", o.Endpoint, o.Name)
		}
	}
	return nil
}
