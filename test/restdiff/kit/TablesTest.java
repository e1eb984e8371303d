package com.github.laketap.test;

import java.util.Map;
import org.apache.iceberg.catalog.CatalogTests;
import org.apache.iceberg.catalog.TableIdentifier;
import org.apache.iceberg.rest.RESTCatalog;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** Iceberg's tests of namespaces, tables and commits. */
class TablesTest extends CatalogTests<RESTCatalog> {
  private RESTCatalog catalog;

  @BeforeEach
  void open() {
    catalog = Client.open("kit", Map.of());
    Client.empty(catalog);
  }

  @AfterEach
  void close() throws Exception {
    catalog.close();
  }

  @Override
  protected RESTCatalog catalog() {
    return catalog;
  }

  @Override
  protected RESTCatalog initCatalog(String name, Map<String, String> properties) {
    return Client.open(name, properties);
  }

  @Override
  protected boolean requiresNamespaceCreate() {
    return true;
  }

  @Override
  protected boolean supportsNestedNamespaces() {
    return true;
  }

  @Override
  protected boolean supportsServerSideRetry() {
    return true;
  }

  @Override
  protected String baseTableLocation(TableIdentifier table) {
    return Client.location(table.namespace() + "/" + table.name());
  }
}
