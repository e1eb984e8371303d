package com.github.laketap.test;

import java.util.HashMap;
import java.util.Map;
import org.apache.iceberg.catalog.Namespace;
import org.apache.iceberg.catalog.TableIdentifier;
import org.apache.iceberg.exceptions.NamespaceNotEmptyException;
import org.apache.iceberg.exceptions.NoSuchNamespaceException;
import org.apache.iceberg.exceptions.RESTException;
import org.apache.iceberg.rest.RESTCatalog;

/**
 * Reaches the catalog under test. The system properties that begin with "catalog." are the client's properties; its URI
 * is the only one that differs between a run against a catalog and a run through Laketap.
 */
final class Client {
  private static final String PREFIX = "catalog.";

  private Client() {}

  /** Opens a client; what a test itself asks for wins. */
  static RESTCatalog open(String name, Map<String, String> asked) {
    Map<String, String> properties = new HashMap<>(expected());
    System.getProperties()
        .forEach(
            (key, value) -> {
              if (key.toString().startsWith(PREFIX)) {
                properties.put(key.toString().substring(PREFIX.length()), value.toString());
              }
            });
    properties.putAll(asked);
    RESTCatalog catalog = new RESTCatalog();
    catalog.initialize(name, properties);
    return catalog;
  }

  /** The defaults and overrides of a catalog's properties that Iceberg's tests expect their client to have. */
  private static Map<String, String> expected() {
    Map<String, String> properties = new HashMap<>();
    for (int key = 1; key <= 2; key++) {
      properties.put("table-default.default-key" + key, "catalog-default-key" + key);
    }
    properties.put("table-default.override-key3", "catalog-default-key3");
    for (int key = 1; key <= 3; key++) {
      properties.put("view-default.key" + key, "catalog-default-key" + key);
    }
    for (int key = 3; key <= 4; key++) {
      properties.put("table-override.override-key" + key, "catalog-override-key" + key);
      properties.put("view-override.key" + key, "catalog-override-key" + key);
    }
    return properties;
  }

  /** Returns a place in the store for what a test puts where it likes. */
  static String location(String path) {
    return System.getProperty("locations") + "/" + path;
  }

  /** Drops everything: a test begins on an empty catalog, whatever the one before left. */
  static void empty(RESTCatalog catalog) {
    for (Namespace outer : catalog.listNamespaces()) {
      try {
        empty(catalog, outer);
      } catch (RESTException | NoSuchNamespaceException | NamespaceNotEmptyException e) {
        // Some catalogs list what they then do not know by that name, such as one with a dot.
        System.err.println("left " + outer + ": " + e.getMessage());
      }
    }
  }

  private static void empty(RESTCatalog catalog, Namespace namespace) {
    for (Namespace inner : catalog.listNamespaces(namespace)) {
      empty(catalog, inner);
    }
    for (TableIdentifier table : catalog.listTables(namespace)) {
      catalog.dropTable(table, false);
    }
    for (TableIdentifier view : catalog.listViews(namespace)) {
      catalog.dropView(view);
    }
    catalog.dropNamespace(namespace);
  }
}
