package main

import (
	"context"
	"fmt"
	"net"

	"github.com/laketap/laketap/tap"
)

// refuseLoops reports an address behind us that is one of our own ports, by
// whatever name: a request would come back and go round. What name look-ups
// cannot show, such as a balancer's address, the taps notice when it happens.
func (n *node) refuseLoops(ctx context.Context) error {
	ours := []struct {
		setting string
		port    net.Listener
	}{{"catalog.listen", n.ports.catalog}, {"storage.listen", n.ports.storage}, {"admin.listen", n.ports.admin}}
	for _, own := range ours {
		for _, c := range n.cfg.Catalogs {
			if tap.LeadsTo(ctx, c.URL, own.port.Addr()) {
				return fmt.Errorf("catalogs[%s].url: %s leads to this server itself, which has it as %s; set it to the address of the catalog", c.Name, c.URL, own.setting)
			}
		}
		for _, o := range n.cfg.Storage.Origins {
			if tap.LeadsTo(ctx, o.Endpoint, own.port.Addr()) {
				return fmt.Errorf("storage.origins[%s].endpoint: %s leads to this server itself, which has it as %s; set it to the address of the store", o.Name, o.Endpoint, own.setting)
			}
		}
	}
	return nil
}
