create schema if not exists shop;
