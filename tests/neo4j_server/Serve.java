import java.nio.file.Path;
import org.neo4j.configuration.connectors.BoltConnector;
import org.neo4j.configuration.helpers.SocketAddress;
import org.neo4j.dbms.api.DatabaseManagementService;
import org.neo4j.dbms.api.DatabaseManagementServiceBuilder;

/** Runs Neo4j Community with its Bolt connector on the loopback interface: java Serve.java HOME PORT. */
public class Serve {
    public static void main(String[] arguments) throws Exception {
        Path home = Path.of(arguments[0]);
        int port = Integer.parseInt(arguments[1]);
        DatabaseManagementService service = new DatabaseManagementServiceBuilder(home)
                .setConfig(BoltConnector.enabled, true)
                .setConfig(BoltConnector.listen_address, new SocketAddress("127.0.0.1", port))
                .build();
        Runtime.getRuntime().addShutdownHook(new Thread(service::shutdown));
        System.out.println("ready");
        // The starter holds the other end; when it is gone, so are we.
        while (System.in.read() != -1) {
        }
        System.exit(0);
    }
}
